// A policy on a trace.
#pragma once

#include "storage/policy/eviction_policy.hpp"
#include "storage/simulate/trace.hpp"

#include <cstdint>

namespace kvloom::storage {

struct simulation_options {
  std::int64_t capacity_bytes = 0;
  /// Requests behind the present one that a look-ahead policy knows.
  std::uint64_t look_ahead = 0;
};

/// What came of it. Seconds are those of recomputing chunks.
struct simulation_result {
  std::uint64_t requests = 0;
  std::uint64_t requests_all_hit = 0; ///< with chunks, each of them a hit
  std::uint64_t uses = 0;
  std::uint64_t hits = 0;
  std::int64_t tokens = 0; ///< of all uses
  std::int64_t hit_tokens = 0;
  std::int64_t bytes = 0; ///< of all uses
  std::int64_t hit_bytes = 0;
  double total_s = 0; ///< without a store
  double saved_s = 0;
  std::uint64_t evictions = 0;
  std::int64_t evicted_bytes = 0;
  std::int64_t written_bytes = 0;
  std::uint64_t too_large = 0; ///< misses refused: larger than the capacity
  std::uint64_t no_room = 0;   ///< misses not stored: too much was leased
};

/// Each request first uses what is stored of its chunks, then recomputes and
/// stores the others in their order; all stay leased until it ends. `policy`
/// must be new.
simulation_result simulate(const workload& work, eviction_policy& policy,
                           const simulation_options& options);

} // namespace kvloom::storage
