// A disk slowed down to a given speed, so that experiments with slow disks
// repeat on any machine that is faster.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace kvloom::storage {

/// 0: not slowed down.
struct disk_speed {
  std::int64_t bytes_per_s = 0;        ///< of all transfers together
  std::chrono::nanoseconds latency{0}; ///< of each transfer
};

/// Thread-safe. Transfers share the bandwidth one after the other; latencies
/// overlap.
class slow_disk {
public:
  explicit slow_disk(disk_speed speed) : speed_(speed) {}

  bool slows() const {
    return speed_.bytes_per_s > 0 || speed_.latency.count() > 0;
  }

  /// Takes a turn for a transfer that begins now; the time on the clock of
  /// now_ns() at which a disk of that speed would be done.
  std::int64_t book(std::int64_t bytes);

  /// Sleeps until then, or until `stop` is true (looked at every 2 ms).
  static void wait_until(std::int64_t due_ns, const std::atomic<bool>& stop);

private:
  disk_speed speed_;
  std::mutex mutex_;
  std::int64_t free_at_ns_ = 0;
};

} // namespace kvloom::storage
