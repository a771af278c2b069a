// Deadlines of requests as timeouts of messages.
#pragma once

#include "core/base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kvloom::actors {

/// Time left until a deadline, at least 1 ms.
inline std::chrono::nanoseconds time_left(std::int64_t deadline_ns) {
  constexpr std::int64_t least_ns = 1'000'000;
  return std::chrono::nanoseconds(std::max(least_ns, deadline_ns - now_ns()));
}

} // namespace kvloom::actors
