#include "cli/stop_signals.hpp"

#include <array>
#include <csignal>

namespace kvloom::cli {

namespace {

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

extern "C" void note_signal(int /*number*/) {
  stopped.store(true);
}

constexpr std::array asking = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array told_by_writes = {SIGPIPE, SIGXFSZ};

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  if (number == SIGHUP && action.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

} // namespace

stop_signals::stop_signals() {
  stopped.store(false);
  // SA_RESETHAND: the second signal of a kind finds the default again.
  for (int number : asking)
    handle(number, note_signal, SA_RESTART | static_cast<int>(SA_RESETHAND));
  for (int number : told_by_writes) handle(number, SIG_IGN, 0);
}

stop_signals::~stop_signals() {
  for (int number : asking) handle(number, SIG_DFL, 0);
}

const std::atomic<bool>& stop_signals::flag() {
  return stopped;
}

} // namespace kvloom::cli
