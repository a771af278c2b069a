// Values instead of exceptions: result<T> and the one error type of kvloom.
//
// Expected failures travel as values from every function that can meet one;
// libraries that throw are caught at the place where they are called.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace kvloom {

/// What kind of failure an error is; decides the exit code of the command.
enum class errc : std::uint8_t {
  bad_input = 1,  ///< The user's file, option or data is wrong (exit code 2).
  environment,    ///< A machine, file system or model problem (exit code 3).
  request_failed, ///< One request failed, the run goes on (exit code 1).
  deadline,       ///< A finite wait ran out.
  cancelled,      ///< The run was told to stop.
  internal,       ///< A fault of kvloom itself.
};

/// A failure: what happened and what to do about it, in one sentence each.
struct error {
  errc code = errc::internal;
  /// What was found, what was wanted and the remedy. No trailing newline.
  std::string message;
  /// Where: `file:line:column`, a path, a request id; empty if nowhere.
  std::string place;
};

template <class T>
using result = tl::expected<T, error>;

/// Makes the failing side of any result<T>.
inline tl::unexpected<error> fail(errc code, std::string message,
                                  std::string place = {}) {
  return tl::unexpected<error>(
      error{code, std::move(message), std::move(place)});
}

/// Passes on the error of another result.
template <class T>
tl::unexpected<error> pass_on(result<T>& failed) {
  return tl::unexpected<error>(std::move(failed.error()));
}

/// `place: message`, or the message alone.
std::string to_string(const error& what);

/// The name of a kind of failure, as written into results (`bad_input`).
const char* to_string(errc code);

/// Exit code of the command: 1 requests failed, 2 bad input, 3 environment.
int exit_code(errc code);

} // namespace kvloom
