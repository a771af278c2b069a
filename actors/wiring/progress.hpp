// How far a run is.
#pragma once

#include <cstdint>

namespace kvloom::actors {

/// Progress of a run, after each result.
struct run_progress {
  std::uint64_t done = 0;  ///< results so far, warm-ups not counted
  std::uint64_t total = 0; ///< results to come in all
  std::uint64_t failed = 0;
  double requests_per_s = 0; ///< since the first question; 0: none ended
};

} // namespace kvloom::actors
