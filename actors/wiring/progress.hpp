// How far a run is.
#pragma once

#include <cstdint>
#include <optional>

namespace kvloom::actors {

/// Progress of a run, after each result.
struct run_progress {
  std::uint64_t done = 0;  ///< results so far, warm-ups not counted
  std::uint64_t total = 0; ///< results to come in all
  std::uint64_t failed = 0;
  std::optional<double> ttft_ms; ///< of the last good result
  std::optional<double> tpot_ms; ///< of the last good result
  double requests_per_s = 0;     ///< since the first question
};

} // namespace kvloom::actors
