// The definitions of the policies, read off slowly: every victim is found by
// looking at all entries. The oracle of the real ones.
#pragma once

#include "storage/policy/eviction_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::storage {

class naive_policy {
public:
  explicit naive_policy(std::string_view name)
      : looks_(name.starts_with("look_ahead")),
        order_(name == "look_ahead" ? "lru"
               : looks_             ? name.substr(11)
                                    : name) {}

  void inserted(entry_id id, const entry_facts& facts) {
    erased(id);
    ++now_;
    entry one;
    one.id = id;
    one.bytes = static_cast<double>(facts.bytes);
    one.born = one.last = now_;
    measure(one, facts.recompute_s);
    one.rank = rank(one);
    entries_.push_back(one);
  }

  void used(entry_id id, double recompute_s) {
    for (auto& one : entries_) {
      if (one.id != id) continue;
      one.last = ++now_;
      one.uses += 1;
      one.chosen = false;
      measure(one, recompute_s);
      one.rank = rank(one);
    }
  }

  void erased(entry_id id) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].id != id) continue;
      if (entries_[i].chosen) clock_ = std::max(clock_, entries_[i].rank);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  void will_use(const std::vector<entry_id>& soon) {
    for (auto& one : entries_) {
      const auto found = std::find(soon.begin(), soon.end(), one.id);
      one.turn.reset();
      if (looks_ && found != soon.end())
        one.turn = static_cast<queue_turn>(found - soon.begin());
    }
  }

  void next_use(entry_id id, std::optional<queue_turn> turn) {
    for (auto& one : entries_)
      if (looks_ && one.id == id) one.turn = turn;
  }

  template <class MayGo>
  std::optional<entry_id> victim(const MayGo& may_go) {
    entry* best = nullptr;
    for (auto& one : entries_) {
      if (!may_go(one.id)) continue;
      if (best == nullptr || before(one, *best)) best = &one;
    }
    if (best == nullptr) return std::nullopt;
    best->chosen = true;
    return best->id;
  }

private:
  struct entry {
    entry_id id = 0;
    double bytes = 1, measured_sum = 0, measured = 0, uses = 1, rank = 0;
    std::uint64_t born = 0, last = 0;
    std::optional<queue_turn> turn;
    bool chosen = false;
  };

  static bool before(const entry& a, const entry& b) {
    if (a.turn.has_value() != b.turn.has_value()) return !a.turn.has_value();
    if (a.turn && *a.turn != *b.turn) return *a.turn > *b.turn;
    if (!a.turn && a.rank != b.rank) return a.rank < b.rank;
    return a.born < b.born;
  }

  void measure(entry& one, double seconds) {
    if (seconds <= 0) return;
    one.measured_sum += seconds;
    one.measured += 1;
    rate_sum_ += seconds / one.bytes;
    rates_ += 1;
  }

  double rank(const entry& one) const {
    if (order_ == "fifo") return static_cast<double>(one.born);
    if (order_ == "lru") return static_cast<double>(one.last);
    if (order_ == "lfu") return one.uses;
    double cost = 1;
    if (order_ == "pgdsf") {
      if (one.measured > 0)
        cost = one.measured_sum / one.measured;
      else
        cost = rates_ > 0 ? one.bytes * rate_sum_ / rates_ : 0;
    }
    return clock_ + one.uses * cost / one.bytes;
  }

  bool looks_;
  std::string order_;
  std::uint64_t now_ = 0;
  double clock_ = 0, rate_sum_ = 0, rates_ = 0;
  std::vector<entry> entries_;
};

} // namespace kvloom::storage
