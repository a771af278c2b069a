#include "storage/policy/entry_heap.hpp"

#include <algorithm>

namespace kvloom::storage {

namespace {

constexpr std::size_t fan_out = 4;

} // namespace

void entry_heap::push(std::uint32_t slot, entry_id id, entry_key key) {
  if (slot >= places_.size()) places_.resize(slot + std::size_t{1});
  nodes_.emplace_back();
  settle(nodes_.size() - 1, {key, id, slot});
}

void entry_heap::move(std::uint32_t slot, entry_key key) {
  auto moved = nodes_[places_[slot]];
  moved.key = key;
  settle(places_[slot], moved);
}

void entry_heap::erase(std::uint32_t slot) {
  const auto at = places_[slot];
  const auto last = nodes_.back();
  nodes_.pop_back();
  if (at < nodes_.size()) settle(at, last);
}

std::optional<std::uint32_t>
entry_heap::first(const std::function<bool(entry_id)>& may_go) const {
  if (nodes_.empty()) return std::nullopt;
  // Every entry in the heap comes after its parent, so the next in order is
  // always a child of one that was looked at.
  const auto later = [this](std::uint32_t a, std::uint32_t b) {
    return nodes_[b].key < nodes_[a].key;
  };
  frontier_.assign(1, 0);
  while (!frontier_.empty()) {
    std::pop_heap(frontier_.begin(), frontier_.end(), later);
    const auto at = frontier_.back();
    frontier_.pop_back();
    if (may_go(nodes_[at].id)) return nodes_[at].slot;
    const auto begin = at * fan_out + 1;
    const auto end = std::min(begin + fan_out, nodes_.size());
    for (auto child = begin; child < end; ++child) {
      frontier_.push_back(static_cast<std::uint32_t>(child));
      std::push_heap(frontier_.begin(), frontier_.end(), later);
    }
  }
  return std::nullopt;
}

void entry_heap::place(std::size_t at, const node& what) {
  nodes_[at] = what;
  places_[what.slot] = static_cast<std::uint32_t>(at);
}

/// Puts `what` where it belongs, beginning at the hole `at`.
void entry_heap::settle(std::size_t at, const node& what) {
  while (at > 0) {
    const auto parent = (at - 1) / fan_out;
    if (!(what.key < nodes_[parent].key)) break;
    place(at, nodes_[parent]);
    at = parent;
  }
  while (true) {
    const auto begin = at * fan_out + 1;
    if (begin >= nodes_.size()) break;
    const auto end = std::min(begin + fan_out, nodes_.size());
    auto least = begin;
    for (auto child = begin + 1; child < end; ++child)
      if (nodes_[child].key < nodes_[least].key) least = child;
    if (!(nodes_[least].key < what.key)) break;
    place(at, nodes_[least]);
    at = least;
  }
  place(at, what);
}

} // namespace kvloom::storage
