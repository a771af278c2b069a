#include "storage/simulate/simulated_tier.hpp"

namespace kvloom::storage {

simulated_tier::simulated_tier(std::span<const entry_facts> chunks,
                               std::int64_t capacity_bytes,
                               eviction_policy& policy)
    : chunks_(chunks), capacity_bytes_(capacity_bytes), policy_(policy),
      states_(chunks.size(), absent) {}

bool simulated_tier::use(std::uint32_t chunk) {
  if (!stored(chunk)) return false;
  // A hit makes nothing again, so it measures nothing.
  policy_.used(chunk, 0);
  if (states_[chunk] == idle) {
    used_bytes_ -= chunks_[chunk].bytes;
    lease(chunk);
  }
  return true;
}

simulated_tier::outcome simulated_tier::store(std::uint32_t chunk) {
  const auto bytes = chunks_[chunk].bytes;
  if (bytes > capacity_bytes_) return outcome::too_large;
  if (bytes > capacity_bytes_ - leased_bytes_) return outcome::no_room;
  while (free_bytes() < bytes) {
    const auto victim
        = policy_.victim([this](entry_id id) { return states_[id] == idle; });
    if (!victim) return outcome::no_room; // can't be: used covers the rest
    const auto gone = static_cast<std::uint32_t>(*victim);
    policy_.erased(*victim);
    states_[gone] = absent;
    used_bytes_ -= chunks_[gone].bytes;
    evicted_bytes_ += chunks_[gone].bytes;
    ++evictions_;
  }
  policy_.inserted(chunk, chunks_[chunk]);
  written_bytes_ += bytes;
  lease(chunk);
  return outcome::stored;
}

void simulated_tier::lease(std::uint32_t chunk) {
  states_[chunk] = in_use;
  leased_bytes_ += chunks_[chunk].bytes;
  leases_.push_back(chunk);
}

void simulated_tier::release_all() {
  for (const auto chunk : leases_) states_[chunk] = idle;
  leases_.clear();
  used_bytes_ += leased_bytes_;
  leased_bytes_ = 0;
}

} // namespace kvloom::storage
