// One tier in bookkeeping only: chunks have bytes, but no content.
#pragma once

#include "storage/policy/eviction_policy.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::storage {

/// free + used + leased = capacity after every call. Chunks are leased from
/// their use until release_all(); what is leased is never evicted.
/// Not thread-safe.
class simulated_tier {
public:
  /// How store() ended.
  enum class outcome : std::uint8_t {
    stored,
    too_large, ///< larger than the capacity: refused, nothing was evicted
    no_room,   ///< what is leased leaves too little: nothing was evicted
  };

  /// Facts of chunk i are `chunks[i]`; they and the policy must outlive the
  /// tier, and the policy must be new.
  simulated_tier(std::span<const entry_facts> chunks,
                 std::int64_t capacity_bytes, eviction_policy& policy);

  /// A hit: the chunk is leased and the policy told. False if it isn't stored.
  bool use(std::uint32_t chunk);

  /// Makes room, then stores and leases a chunk that wasn't stored.
  outcome store(std::uint32_t chunk);

  /// Ends all leases.
  void release_all();

  bool stored(std::uint32_t chunk) const { return states_[chunk] != absent; }
  bool leased(std::uint32_t chunk) const { return states_[chunk] == in_use; }

  std::int64_t capacity_bytes() const { return capacity_bytes_; }
  std::int64_t free_bytes() const {
    return capacity_bytes_ - used_bytes_ - leased_bytes_;
  }
  std::int64_t used_bytes() const { return used_bytes_; } ///< not leased
  std::int64_t leased_bytes() const { return leased_bytes_; }
  std::int64_t written_bytes() const { return written_bytes_; }
  std::uint64_t evictions() const { return evictions_; }
  std::int64_t evicted_bytes() const { return evicted_bytes_; }

private:
  enum state : std::uint8_t { absent, idle, in_use };

  void lease(std::uint32_t chunk);

  std::span<const entry_facts> chunks_;
  std::int64_t capacity_bytes_;
  eviction_policy& policy_;
  std::vector<state> states_;         ///< [n_chunks]
  std::vector<std::uint32_t> leases_; ///< chunks in use
  std::int64_t used_bytes_ = 0;
  std::int64_t leased_bytes_ = 0;
  std::int64_t written_bytes_ = 0;
  std::int64_t evicted_bytes_ = 0;
  std::uint64_t evictions_ = 0;
};

} // namespace kvloom::storage
