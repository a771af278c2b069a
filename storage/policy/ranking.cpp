#include "storage/policy/ranking.hpp"

#include <algorithm>
#include <array>

namespace kvloom::storage {

namespace {

constexpr std::array<std::string_view, 5> names{"fifo", "lru", "lfu", "gdsf",
                                                "pgdsf"};

class fifo final : public ranking {
public:
  double rank(const entry_history& entry) const override {
    return static_cast<double>(entry.birth);
  }
};

class lru final : public ranking {
public:
  double rank(const entry_history& entry) const override {
    return static_cast<double>(entry.last_use);
  }
};

class lfu final : public ranking {
public:
  double rank(const entry_history& entry) const override {
    return static_cast<double>(entry.uses);
  }
};

/// Greedy dual: what an entry is worth a byte, on top of a clock that ages all
/// that aren't used.
class greedy_dual : public ranking {
public:
  double rank(const entry_history& entry) const final {
    return clock_
           + static_cast<double>(entry.uses) * cost(entry)
                 / static_cast<double>(entry.bytes);
  }
  void evicted(double rank) final { clock_ = std::max(clock_, rank); }

private:
  virtual double cost(const entry_history& entry) const = 0;

  double clock_ = 0;
};

class gdsf final : public greedy_dual {
  double cost(const entry_history&) const override { return 1; }
};

class pgdsf final : public greedy_dual {
public:
  void measured(double recompute_s, std::int64_t bytes) override {
    per_byte_sum_ += recompute_s / static_cast<double>(bytes);
    ++measurements_;
  }

private:
  double cost(const entry_history& entry) const override {
    if (entry.measured > 0)
      return entry.measured_s / static_cast<double>(entry.measured);
    if (measurements_ == 0) return 0;
    return static_cast<double>(entry.bytes) * per_byte_sum_
           / static_cast<double>(measurements_);
  }

  double per_byte_sum_ = 0;
  std::uint64_t measurements_ = 0;
};

} // namespace

std::unique_ptr<ranking> make_ranking(std::string_view name) {
  if (name == "fifo") return std::make_unique<fifo>();
  if (name == "lru") return std::make_unique<lru>();
  if (name == "lfu") return std::make_unique<lfu>();
  if (name == "gdsf") return std::make_unique<gdsf>();
  if (name == "pgdsf") return std::make_unique<pgdsf>();
  return nullptr;
}

std::span<const std::string_view> ranking_names() {
  return names;
}

} // namespace kvloom::storage
