// Entries in the order in which they would go.
#pragma once

#include "storage/policy/eviction_policy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kvloom::storage {

/// Where an entry stands in the order: lower rank first, then lower birth.
struct entry_key {
  double rank = 0;         ///< never NaN
  std::uint64_t birth = 0; ///< order of insertion, no two alike

  bool operator<(const entry_key& other) const {
    return rank != other.rank ? rank < other.rank : birth < other.birth;
  }
};

/// A heap of slots (small numbers that the owner gives), each of which can be
/// moved or taken out in O(log n). Not thread-safe.
class entry_heap {
public:
  struct node {
    entry_key key;
    entry_id id = 0;
    std::uint32_t slot = 0;
  };

  std::size_t size() const { return nodes_.size(); }
  const std::vector<node>& nodes() const { return nodes_; } ///< any order

  /// `slot` must not be in.
  void push(std::uint32_t slot, entry_id id, entry_key key);
  /// `slot` must be in.
  void move(std::uint32_t slot, entry_key key);
  /// `slot` must be in.
  void erase(std::uint32_t slot);

  /// The first entry in order that `may_go`, as a slot. Looks at no more than
  /// the entries before it and their children; changes nothing.
  std::optional<std::uint32_t>
  first(const std::function<bool(entry_id)>& may_go) const;

private:
  void place(std::size_t at, const node& what);
  void settle(std::size_t at, const node& what);

  std::vector<node> nodes_;                     ///< four children a node
  std::vector<std::uint32_t> places_;           ///< of slots, in nodes_
  mutable std::vector<std::uint32_t> frontier_; ///< of first(), kept for reuse
};

} // namespace kvloom::storage
