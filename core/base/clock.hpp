// The one monotonic clock of a process.
#pragma once

#include <chrono>
#include <cstdint>

namespace kvloom {

using std::chrono::nanoseconds;

/// Nanoseconds on the monotonic clock; differences are durations, the zero
/// point means nothing.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Nanoseconds to milliseconds, for what people read.
inline double to_ms(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

} // namespace kvloom
