#include "cli/stop_signals.hpp"

#include <csignal>

namespace kvloom::cli {

namespace {

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

extern "C" void note_signal(int /*number*/) {
  stopped.store(true);
}

void handle(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

} // namespace

stop_signals::stop_signals() {
  stopped.store(false);
  // SA_RESETHAND: the second signal of a kind finds the default again.
  handle(note_signal, SA_RESTART | static_cast<int>(SA_RESETHAND));
}

stop_signals::~stop_signals() {
  handle(SIG_DFL, 0);
}

const std::atomic<bool>& stop_signals::flag() {
  return stopped;
}

} // namespace kvloom::cli
