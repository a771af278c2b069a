// Signals of a run: those that ask it to stop as a flag, those that a failed
// write says as well as ignored.
#pragma once

#include <atomic>

namespace kvloom::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP (a closed terminal) set a flag
/// in place of ending the process; a second one of a kind ends it at once.
/// SIGHUP stays ignored where it was, as under nohup. SIGPIPE and SIGXFSZ are
/// ignored from then on: the write that they belong to fails with its own
/// error. At most one at a time.
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
