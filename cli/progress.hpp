// How far a run is, with its rate and the time left.
#pragma once

#include <cstdint>
#include <string>

namespace kvloom::cli {

/// `12/150 (1 failed), 3.1/s, 45 s left`, or without rate before the first.
std::string progress_text(std::uint64_t done, std::uint64_t failed,
                          std::uint64_t total, std::int64_t elapsed_ns);

/// Shows progress on standard error: one line that is rewritten on a
/// terminal, otherwise a plain line at most every ten seconds. Not
/// thread-safe.
class progress_line {
public:
  explicit progress_line(bool quiet);

  /// `done` of `total` requests have ended, `failed` of them with an error.
  void show(std::uint64_t done, std::uint64_t failed, std::uint64_t total);

  /// Ends the line of a terminal.
  void finish();

private:
  bool quiet_, terminal_, open_ = false;
  std::int64_t began_ns_, shown_ns_;
};

} // namespace kvloom::cli
