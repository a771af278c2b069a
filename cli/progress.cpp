#include "cli/progress.hpp"

#include "cli/output.hpp"
#include "core/base/clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

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
                          std::uint64_t total, double per_s) {
  auto text = fmt::format("{}/{}", done, total);
  if (failed > 0) text += fmt::format(" ({} failed)", failed);
  if (!(per_s > 0)) return text;
  text += fmt::format(", {:.{}f}/s", per_s, per_s < 10 ? 2 : 0);
  if (done < total) {
    text += ", " + time_left(static_cast<double>(total - done) / per_s);
  }
  return text;
}

progress_line::progress_line(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1),
      shown_ns_(now_ns()) {}

void progress_line::show(std::uint64_t done, std::uint64_t failed,
                         std::uint64_t total, double per_s) {
  if (quiet_) return;
  const auto now = now_ns();
  const auto interval = terminal_ ? terminal_interval_ns : plain_interval_ns;
  if (done < total && now - shown_ns_ < interval) return;
  shown_ns_ = now;
  const auto text = progress_text(done, failed, total, per_s);
  if (terminal_) {
    say("\r\033[K{}", text);
    open_ = true;
  } else {
    say("{}\n", text);
  }
}

void progress_line::finish() {
  if (!open_) return;
  say("\n");
  open_ = false;
}

} // namespace kvloom::cli
