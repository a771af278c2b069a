// The rank of an entry under each policy; the lowest goes first.
#pragma once

#include "storage/policy/eviction_policy.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace kvloom::storage {

/// What a ranking may look at.
struct entry_history {
  std::uint64_t birth = 0;    ///< number of the call that inserted it
  std::uint64_t last_use = 0; ///< number of the call that used it last
  std::uint64_t uses = 1;     ///< being inserted is the first
  std::int64_t bytes = 1;
  double measured_s = 0;      ///< sum of the measurements
  std::uint64_t measured = 0; ///< how many
};

class ranking {
public:
  ranking() = default;
  ranking(const ranking&) = delete;
  ranking& operator=(const ranking&) = delete;
  virtual ~ranking() = default;

  /// The rank of an entry that has just been used.
  virtual double rank(const entry_history& entry) const = 0;
  /// A new measurement, to be told before rank() is asked.
  virtual void measured(double /*recompute_s*/, std::int64_t /*bytes*/) {}
  /// A victim of that rank is gone.
  virtual void evicted(double /*rank*/) {}
};

/// By name (eviction_policy.hpp defines them); null if there is none.
std::unique_ptr<ranking> make_ranking(std::string_view name);

std::span<const std::string_view> ranking_names();

} // namespace kvloom::storage
