#include "actors/support/model_owner.hpp"

#include "actors/support/errors.hpp"
#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

namespace kvloom::actors {

model_work::model_work(std::shared_ptr<language_model> model,
                       std::shared_ptr<model_demand> demand,
                       const std::atomic<bool>* stop,
                       first_token_options options)
    : model_(std::move(model)), demand_(std::move(demand)), stop_(stop),
      options_(options) {}

result<void> model_work::prefill(running_request& work) {
  const auto begin = now_ns();
  if (stopped())
    return fail(errc::cancelled, "the run was told to stop before its prefill",
                place_of(work.request->plan));
  if (auto in_time = check_deadline(*work.request, begin); !in_time)
    return pass_on(in_time);
  auto kv = model_->start(work.capacity);
  if (!kv) return pass_on(kv);
  work.kv = std::move(*kv);
  const bool has_question = !work.question_ids.empty();
  auto logits
      = model_->extend(*work.kv, work.context_ids, !has_question, stop_);
  if (!logits) return pass_on(logits);
  const auto context_end = now_ns();
  if (has_question) {
    logits = model_->extend(*work.kv, work.question_ids, true, stop_);
    if (!logits) return pass_on(logits);
  }
  const auto question_end = now_ns();
  if (logits->size() < model_->vocabulary_size())
    return fail(errc::internal,
                fmt::format("the model gave {} logits for a vocabulary of {}",
                            logits->size(), model_->vocabulary_size()),
                place_of(work.request->plan));
  work.first_token = work.chooser->choose(*logits);
  const auto token_end = now_ns();
  work.first_token_ns = token_end;
  auto& draft = work.draft;
  auto& parts = draft.parts;
  parts.queue_ns
      = (work.prompt_begin_ns - work.entered_ns) + (begin - work.prompt_end_ns);
  parts.tokenize_ns = work.prompt_end_ns - work.prompt_begin_ns;
  parts.recompute_ns = context_end - begin;
  if (has_question) parts.question_ns = question_end - context_end;
  parts.sample_ns
      = has_question ? token_end - question_end : token_end - context_end;
  draft.ttft_ns = token_end - work.entered_ns;
  // After the clock was read: reporting is no part of the work.
  if (options_.first_logits > 0)
    draft.first_logits = model_->largest(*logits, options_.first_logits);
  return {};
}

bool model_work::ends_turn(decode_turn& turn, std::int64_t steps) const {
  if (turn.give_way && turn.give_way->load(std::memory_order_relaxed))
    return true;
  return steps >= turn.most_steps
         && demand_->prefills_waiting.load(std::memory_order_relaxed) > 0;
}

result<void> model_work::decode(decode_turn& turn) {
  const auto n = turn.rows.size();
  rows_.resize(n);
  ids_.resize(n);
  for (std::size_t i = 0; i < n; ++i) rows_[i] = turn.rows[i]->kv.get();
  const auto vocabulary = model_->vocabulary_size();
  for (std::int64_t steps = 1;; ++steps) {
    if (stopped()) return fail(errc::cancelled, "the run was told to stop");
    for (std::size_t i = 0; i < n; ++i) ids_[i] = turn.rows[i]->last_token;
    const auto logits = model_->step(rows_, ids_);
    if (!logits) return tl::unexpected<error>(logits.error());
    if (logits->size() < n * vocabulary)
      return fail(errc::internal,
                  fmt::format("the model gave {} logits for {} rows of {}",
                              logits->size(), n, vocabulary));
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      auto& row = *turn.rows[i];
      row.last_token
          = row.chooser->choose(logits->subspan(i * vocabulary, vocabulary));
      const auto now = now_ns();
      row.token_ns.push_back(now);
      row.complete = row.answer->push(row.last_token);
      if (!row.complete) {
        if (auto in_time = check_deadline(*row.request, now); !in_time)
          row.failure = std::move(in_time.error());
      }
      changed = changed || row.complete || row.failure;
    }
    if (changed || ends_turn(turn, steps)) return {};
  }
}

model_actor::behavior_type model_owner_state::behavior() {
  return {
      [this](prefill_atom, const running_request_ptr& work)
          -> caf::result<running_request_ptr> {
        work_->prefill_begins();
        const auto done = guarded([&] { return work_->prefill(*work); });
        if (!done) return to_caf(done.error());
        return work;
      },
      [this](decode_atom,
             const decode_turn_ptr& turn) -> caf::result<decode_turn_ptr> {
        const auto done = guarded([&] { return work_->decode(*turn); });
        if (!done) return to_caf(done.error());
        return turn;
      },
  };
}

model_actor::behavior_type
model_owner(model_actor::stateful_pointer<model_owner_state> self,
            std::shared_ptr<model_work> work) {
  static_assert(!std::is_aggregate_v<model_owner_state>);
  self->set_exception_handler(exception_handler);
  self->state.init(std::move(work));
  return self->state.behavior();
}

} // namespace kvloom::actors
