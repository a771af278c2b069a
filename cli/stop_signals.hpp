// Ctrl-C and SIGTERM as a flag.
#pragma once

#include <atomic>

namespace kvloom::cli {

/// While it lives, SIGINT and SIGTERM set a flag in place of ending the
/// process; a second one ends it at once. At most one at a time.
class stop_signals {
public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// True from the first signal on. Valid as long as the process lives.
  static const std::atomic<bool>& flag();
};

} // namespace kvloom::cli
