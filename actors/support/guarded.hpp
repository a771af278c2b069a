// Exceptions into errors, at the place where a call might throw.
#pragma once

#include "core/base/result.hpp"

#include <exception>
#include <type_traits>
#include <utility>

namespace kvloom::actors {

/// What a handler lets through is a result and never an exception.
error from_exception(const std::exception& what);

/// Runs `body`, which returns a result<T>; an exception becomes its error.
template <class Body>
auto guarded(Body&& body) -> std::invoke_result_t<Body> {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& problem) {
    return tl::unexpected<error>(from_exception(problem));
  } catch (...) {
    return fail(errc::internal, "something that is no exception was thrown");
  }
}

} // namespace kvloom::actors
