#include "actors/support/request_ledger.hpp"

#include <utility>

namespace kvloom::actors {

request_ledger::request_ledger(request_plan plan)
    : plan_(std::move(plan)), finished_(plan_->size(), false) {
  for (const auto& one : *plan_)
    if (!one.warmup) ++n_measured_;
}

const planned_request* request_ledger::find(std::uint64_t sequence) const {
  // A plan is numbered by place.
  return sequence < plan_->size() ? &(*plan_)[sequence] : nullptr;
}

request_ptr request_ledger::open(std::uint64_t sequence) const {
  const auto found = open_.find(sequence);
  return found == open_.end() ? nullptr : found->second;
}

void request_ledger::emitted(const request_ptr& request) {
  const auto sequence = request->plan.sequence;
  if (find(sequence) != nullptr && !finished_[sequence])
    open_[sequence] = request;
}

bool request_ledger::finish(std::uint64_t sequence) {
  if (find(sequence) == nullptr || finished_[sequence]) return false;
  finished_[sequence] = true;
  open_.erase(sequence);
  ++n_finished_;
  return true;
}

request_result
request_ledger::failed_result(const request_failure& failure) const {
  const auto* planned = find(failure.sequence);
  auto line = failure.partial ? *failure.partial : blank_result(*planned);
  line.ok = false;
  line.error_text = std::string(to_string(failure.why.code)) + ": "
                    + to_string(failure.why);
  // Numbers of an answer that does not exist would be read as measurements.
  line.answer.reset();
  line.finish.reset();
  line.ttft_ns.reset();
  line.parts = {};
  line.itl_ns.clear();
  line.e2e_ns.reset();
  line.scores.clear();
  line.token_ids.clear();
  line.first_logits.clear();
  line.tokens.reset();
  line.prefill.reset();
  return line;
}

std::vector<std::uint64_t> request_ledger::overdue(std::int64_t now) const {
  std::vector<std::uint64_t> late;
  for (const auto& [sequence, request] : open_)
    if (now > request->deadline_ns) late.push_back(sequence);
  return late;
}

std::vector<std::uint64_t> request_ledger::unfinished() const {
  std::vector<std::uint64_t> rest;
  for (const auto& one : *plan_)
    if (!finished_[one.sequence]) rest.push_back(one.sequence);
  return rest;
}

} // namespace kvloom::actors
