// Errors of kvloom and of CAF into each other: the one place for it.
#pragma once

#include "actors/support/guarded.hpp"
#include "core/base/result.hpp"

#include <caf/error.hpp>

#include <exception>

namespace kvloom::actors {

/// Carries code, message and place through a CAF reply.
caf::error to_caf(const error& what);

/// Back again. Errors of CAF itself become deadline (a request ran out of
/// time), cancelled (ended in an orderly way) or internal, in words.
error from_caf(const caf::error& what);

/// For actors as a safety net: an exception that reaches CAF ends the actor
/// with this error as the reason.
caf::error exception_handler(std::exception_ptr& problem);

} // namespace kvloom::actors
