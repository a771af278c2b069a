#include "actors/support/errors.hpp"

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

namespace kvloom::actors {

namespace {

constexpr auto category = caf::atom("kvloom");

} // namespace

caf::error to_caf(const error& what) {
  return {static_cast<std::uint8_t>(what.code), category,
          caf::make_message(what.message, what.place)};
}

error from_caf(const caf::error& what) {
  // First: an empty error of 0.17 has no code and no category to ask for.
  if (!what)
    return {errc::internal, "it ended by itself, before its work was done", {}};
  if (what.category() == category) {
    const auto& context = what.context();
    error back{static_cast<errc>(what.code()), {}, {}};
    if (context.match_elements<std::string, std::string>()) {
      back.message = context.get_as<std::string>(0);
      back.place = context.get_as<std::string>(1);
    }
    return back;
  }
  if (what == caf::sec::request_timeout)
    return {errc::deadline, "no reply within the deadline", {}};
  if (what == caf::sec::request_receiver_down)
    return {errc::internal, "the actor that was asked had ended", {}};
  if (what == caf::exit_reason::user_shutdown)
    return {errc::cancelled, "ended in order", {}};
  if (what == caf::exit_reason::kill)
    return {errc::internal, "it was killed", {}};
  // Numbers of other categories are spelled by CAF.
  if (what.category() == caf::atom("system"))
    return {errc::internal, to_string(static_cast<caf::sec>(what.code())), {}};
  if (what.category() == caf::atom("exit"))
    return {errc::internal,
            to_string(static_cast<caf::exit_reason>(what.code())),
            {}};
  return {errc::internal, to_string(what.category()) + " error", {}};
}

error from_exception(const std::exception& what) {
  return {
      errc::internal, std::string("unexpected exception: ") + what.what(), {}};
}

caf::error exception_handler(std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& what) {
    return to_caf(from_exception(what));
  } catch (...) {
    return to_caf(
        error{errc::internal, "something that is no exception was thrown", {}});
  }
}

} // namespace kvloom::actors
