#include "actors/interfaces/payloads.hpp"

#include "core/base/clock.hpp"

#include <fmt/format.h>

namespace kvloom::actors {

request_result blank_result(const planned_request& plan) {
  request_result blank;
  blank.repeat = plan.repeat;
  blank.sequence = plan.sequence;
  blank.warmup = plan.warmup;
  blank.id = plan.asked->id;
  blank.question = plan.asked->text;
  blank.golds = plan.asked->golds;
  blank.dropped_passages = plan.asked->dropped_passages;
  return blank;
}

std::string place_of(const planned_request& plan) {
  return fmt::format("request \"{}\"", plan.asked->id);
}

result<void> check_deadline(const open_request& request, std::int64_t now) {
  if (now <= request.deadline_ns) return {};
  return fail(
      errc::deadline,
      fmt::format("no answer {:.1f} s after the question was asked; raise the "
                  "question source's `deadline` or ask for less",
                  to_ms(now - request.emitted_ns) * 1e-3),
      place_of(request.plan));
}

} // namespace kvloom::actors
