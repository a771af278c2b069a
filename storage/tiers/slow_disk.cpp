#include "storage/tiers/slow_disk.hpp"

#include "core/base/clock.hpp"

#include <algorithm>
#include <thread>

namespace kvloom::storage {

std::int64_t slow_disk::book(std::int64_t bytes) {
  const auto now = now_ns();
  const std::lock_guard lock(mutex_);
  free_at_ns_ = std::max(free_at_ns_, now);
  if (speed_.bytes_per_s > 0)
    free_at_ns_
        += static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9
                                     / static_cast<double>(speed_.bytes_per_s));
  return free_at_ns_ + speed_.latency.count();
}

void slow_disk::wait_until(std::int64_t due_ns, const std::atomic<bool>& stop) {
  constexpr std::int64_t look_every_ns = 2'000'000;
  for (auto left = due_ns - now_ns(); left > 0 && !stop;
       left = due_ns - now_ns())
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::min(left, look_every_ns)));
}

} // namespace kvloom::storage
