// Standard output, where what was asked for must arrive, and standard error,
// where words are best effort: a run's results never depend on either.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace kvloom::cli {

/// Keeps the numbers of the standard streams from being given to files: a
/// stream that was closed is opened so that every write to it fails. To be
/// called before any file is opened.
void guard_standard_streams();

/// Writes to standard output; a failure shows in `output_code`.
void put_text(std::string_view text);

/// Writes to standard error, if it can be written.
void say_text(std::string_view text);

template <class... Args>
void put(fmt::format_string<Args...> format, Args&&... args) {
  put_text(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say_text(fmt::format(format, std::forward<Args>(args)...));
}

/// The exit code of a command that wants to end with `code`: once standard
/// output has lost something, a command without another fault ends with 3,
/// and standard error says so. Flushes.
int output_code(int code);

} // namespace kvloom::cli
