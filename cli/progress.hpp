// How far a run is, with its rate and the time left.
#pragma once

#include <cstdint>
#include <string>

namespace kvloom::cli {

/// `12/150 (1 failed), 3.1/s, 45 s left`, or without rate where it is 0.
std::string progress_text(std::uint64_t done, std::uint64_t failed,
                          std::uint64_t total, double per_s);

/// Shows progress on standard error: one line that is rewritten on a
/// terminal, otherwise a plain line at most every ten seconds. Not
/// thread-safe.
class progress_line {
public:
  explicit progress_line(bool quiet);

  /// `done` of `total` requests have ended, `failed` of them with an error, at
  /// a rate of `per_s` since the first question.
  void show(std::uint64_t done, std::uint64_t failed, std::uint64_t total,
            double per_s);

  /// Ends the line of a terminal.
  void finish();

private:
  bool quiet_, terminal_, open_ = false;
  std::int64_t shown_ns_;
};

} // namespace kvloom::cli
