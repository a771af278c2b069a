#include "cli/progress.hpp"

#include "core/base/clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace kvloom::cli {

namespace {

constexpr std::int64_t terminal_interval_ns = 100'000'000;
constexpr std::int64_t plain_interval_ns = 10'000'000'000;

std::string time_left(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", std::ceil(seconds));
  return fmt::format("{:.0f} min left", std::ceil(seconds / 60));
}

} // namespace

std::string progress_text(std::uint64_t done, std::uint64_t failed,
                          std::uint64_t total, std::int64_t elapsed_ns) {
  auto text = fmt::format("{}/{}", done, total);
  if (failed > 0) text += fmt::format(" ({} failed)", failed);
  if (done == 0 || elapsed_ns <= 0) return text;
  const double rate
      = static_cast<double>(done) / (1e-9 * static_cast<double>(elapsed_ns));
  text += fmt::format(", {:.{}f}/s", rate, rate < 10 ? 2 : 0);
  if (done < total) {
    text += ", " + time_left(static_cast<double>(total - done) / rate);
  }
  return text;
}

progress_line::progress_line(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), began_ns_(now_ns()),
      shown_ns_(began_ns_) {}

void progress_line::show(std::uint64_t done, std::uint64_t failed,
                         std::uint64_t total) {
  if (quiet_) return;
  const auto now = now_ns();
  const auto interval = terminal_ ? terminal_interval_ns : plain_interval_ns;
  if (done < total && now - shown_ns_ < interval) return;
  shown_ns_ = now;
  const auto text = progress_text(done, failed, total, now - began_ns_);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
    open_ = true;
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

void progress_line::finish() {
  if (!open_) return;
  fmt::print(stderr, "\n");
  open_ = false;
}

} // namespace kvloom::cli
