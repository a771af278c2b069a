#include "cli/output.hpp"

#include "core/base/result.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace kvloom::cli {

namespace {

/// `errno` of the first write to standard output that failed, or 0.
int lost = 0;

void note_loss(bool failed) {
  if (failed && lost == 0) lost = errno != 0 ? errno : EIO;
}

} // namespace

void guard_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is given, which is this stream's. Reading from
    // it, or writing to it, is refused.
    const int flags = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) == -1) return;
  }
}

void put_text(std::string_view text) {
  errno = 0;
  note_loss(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

void say_text(std::string_view text) {
  // There is nobody left to tell if this fails.
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

int output_code(int code) {
  errno = 0;
  note_loss(std::fflush(stdout) != 0);
  if (lost == 0) return code;
  say("error: standard output: cannot be written: {}; what was to be printed "
      "is lost\n",
      std::strerror(lost));
  return code == 0 ? exit_code(errc::environment) : code;
}

} // namespace kvloom::cli
