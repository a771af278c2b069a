#include "actors/support/credit.hpp"

#include <string>

namespace kvloom::actors {

bool credit_window::take() {
  if (!can_send()) return false;
  --available_;
  ++sent_;
  return true;
}

std::uint32_t credit_ledger::open() {
  if (opened_) return 0;
  opened_ = true;
  granted_ = window_;
  return window_;
}

result<void> credit_ledger::received() {
  if (ended_)
    return fail(errc::internal, "a message came after the end of its edge");
  if (outstanding() == 0)
    return fail(errc::internal, "a message came without credit; the window is "
                                    + std::to_string(window_));
  ++received_;
  return {};
}

result<std::uint32_t> credit_ledger::finished() {
  if (in_flight() == 0)
    return fail(errc::internal,
                "a message was finished that had never been received");
  ++finished_;
  if (ended_) return std::uint32_t{0};
  ++granted_;
  return std::uint32_t{1};
}

} // namespace kvloom::actors
