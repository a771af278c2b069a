#include "actors/nodes/prefiller.hpp"

#include "actors/support/errors.hpp"
#include "actors/support/time_left.hpp"
#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace kvloom::actors {

prompt_maker::prompt_maker(std::shared_ptr<const language_model> model,
                           prefiller_options options)
    : model_(std::move(model)), options_(std::move(options)) {}

result<running_request_ptr> prompt_maker::make(const retrieved& asked) const {
  auto work = std::make_shared<running_request>();
  work->request = asked.request;
  work->entered_ns = asked.sent_ns;
  work->prompt_begin_ns = now_ns();
  const auto& plan = asked.request->plan;
  work->draft = blank_result(plan);
  work->draft.retrieve_ns = asked.retrieve_ns;
  work->draft.retrieved = asked.ranking;
  std::vector<const passage*> passages;
  passages.reserve(asked.passages.size());
  for (const auto& one : asked.passages) passages.push_back(one.get());
  auto made = model_->build_prompt(*plan.asked, passages);
  if (!made) return pass_on(made);
  for (const auto& segment : made->segments) {
    auto& into = segment.role == engine::segment_role::closing
                     ? work->question_ids
                     : work->context_ids;
    into.insert(into.end(), segment.ids.begin(), segment.ids.end());
  }
  const auto prompt_tokens = static_cast<std::int64_t>(made->size());
  if (prompt_tokens == 0)
    return fail(errc::bad_input,
                "the prompt has no tokens: the question is empty and so is "
                "the wording around it",
                place_of(plan));
  // The last token of an answer is never fed back, so it needs no KV.
  work->capacity = prompt_tokens + options_.answer_tokens - 1;
  if (work->capacity > model_->context_length())
    return fail(
        errc::bad_input,
        fmt::format(
            "the prompt has {} tokens in {} passages and up to {} more "
            "may follow (max_new_tokens), but the model's context holds "
            "{}; lower the retriever's top_k or max_new_tokens, or take "
            "a model with a longer context",
            prompt_tokens, passages.size(), options_.answer_tokens,
            model_->context_length()),
        place_of(plan));
  token_account account;
  account.prompt = prompt_tokens;
  account.missed = prompt_tokens; // mode full: nothing is stored
  work->draft.tokens = account;
  work->draft.prefill = prefill_report{};
  work->draft.prefill->mode = options_.mode;
  work->chooser = model_->new_chooser(
      options_.sampling, fmt::format("sampling/{}/{}/{}", plan.repeat,
                                     plan.asked->row, plan.asked->id));
  work->prompt_end_ns = now_ns();
  return work;
}

result<void> check_prefilled(const running_request& work) {
  const auto& draft = work.draft;
  const auto place = place_of(work.request->plan);
  if (!draft.tokens || !draft.tokens->closes())
    return fail(errc::internal,
                "the account of the prompt's tokens is not "
                "balanced",
                place);
  const auto present = work.kv ? work.kv->length() : 0;
  if (present != draft.tokens->prompt)
    return fail(errc::internal,
                fmt::format("the prompt has {} tokens and KV of {} is there",
                            draft.tokens->prompt, present),
                place);
  if (!draft.ttft_ns || *draft.ttft_ns != draft.parts.sum_ns())
    return fail(errc::internal,
                fmt::format("the parts of TTFT add up to {} ns of {} ns",
                            draft.parts.sum_ns(), draft.ttft_ns.value_or(0)),
                place);
  return {};
}

void prefiller_state::init(prompt_maker prompts, model_actor owner,
                           std::shared_ptr<model_demand> demand) {
  prompts_ = std::make_unique<prompt_maker>(std::move(prompts));
  owner_ = std::move(owner);
  demand_ = std::move(demand);
}

void prefiller_state::fail_request(
    std::uint64_t sequence, edge_id edge, error why,
    std::shared_ptr<const request_result> partial) {
  self_->send(links_.ledger, failed_atom_v,
              request_failure{sequence, std::move(why), std::move(partial)});
  in_.finished(self_, edge);
}

void prefiller_state::receive(edge_id edge, const retrieved& asked) {
  const auto work = guarded([&]() -> result<running_request_ptr> {
    if (auto legal = in_.received(edge); !legal) return pass_on(legal);
    return prompts_->make(asked);
  });
  if (work) {
    waiting_.emplace_back(*work, edge);
    start_next();
    return;
  }
  auto partial = blank_result(asked.request->plan);
  partial.retrieve_ns = asked.retrieve_ns;
  partial.retrieved = asked.ranking;
  fail_request(asked.request->plan.sequence, edge, work.error(),
               std::make_shared<const request_result>(std::move(partial)));
}

void prefiller_state::start_next() {
  // Against the decoder's credit: no KV is made that nobody can take.
  if (busy_ || waiting_.empty() || !out_.ready()) return;
  busy_ = true;
  const auto [work, edge] = std::move(waiting_.front());
  waiting_.pop_front();
  // Copied before the model gets the request: after a deadline it may still be
  // writing to it.
  auto partial = std::make_shared<const request_result>(work->draft);
  demand_->prefills_waiting.fetch_add(1);
  self_
      ->request(owner_, time_left(work->request->deadline_ns), prefill_atom_v,
                work)
      .then([this, from = edge](
                const running_request_ptr& back) { done(back, from); },
            [this, from = edge, partial](const caf::error& why) {
              busy_ = false;
              fail_request(partial->sequence, from, from_caf(why), partial);
              start_next();
              end_if_empty();
            });
}

void prefiller_state::done(const running_request_ptr& work, edge_id edge) {
  busy_ = false;
  if (const auto sound = check_prefilled(*work); !sound) {
    fail_request(work->request->plan.sequence, edge, sound.error(),
                 std::make_shared<const request_result>(work->draft));
  } else {
    out_.push({work, 0}, edge);
    out_.flush(self_, in_);
  }
  start_next();
  end_if_empty();
}

void prefiller_state::end_if_empty() {
  if (!in_.ended() || busy_ || !waiting_.empty()) return;
  out_.end();
  out_.flush(self_, in_);
}

stage_actor<retrieved>::behavior_type prefiller_state::behavior() {
  return {
      [this](link_out_atom, const out_link& link) { out_.link(link); },
      [this](link_in_atom, const in_link& link) { in_.link(link); },
      [this](begin_atom, const run_links& links) {
        links_ = links;
        in_.open(self_);
      },
      [this](credit_atom, edge_id, std::uint32_t n) {
        out_.grant(n);
        out_.flush(self_, in_);
        start_next();
      },
      [this](item_atom, edge_id edge, const retrieved& asked) {
        receive(edge, asked);
      },
      [this](end_atom, edge_id edge) {
        in_.end(edge);
        end_if_empty();
      },
  };
}

stage_actor<retrieved>::behavior_type
prefiller(stage_actor<retrieved>::stateful_pointer<prefiller_state> self,
          const prompt_maker& prompts, const model_actor& owner,
          const std::shared_ptr<model_demand>& demand) {
  static_assert(!std::is_aggregate_v<prefiller_state>);
  self->set_exception_handler(exception_handler);
  self->state.init(prompts, owner, demand);
  return self->state.behavior();
}

node_type prefiller_type() {
  graphs::actor_kind kind;
  kind.name = "prefiller";
  kind.help = "Computes the KV of prompts and their first tokens.";
  kind.inputs
      = {input_of<retrieved>("request", "Questions with their passages.")};
  kind.outputs
      = {port_of<prefilled>("prefilled", "KV, first token and accounts.")};
  kind.params = {choice_param(
      "mode",
      "Which rows are computed: full computes every row of every prompt.",
      "full", {"full"})};
  auto prepare = [](const graphs::graph_node& node,
                    prepare_context& context) -> result<node_spawner> {
    const auto* decoder = context.downstream(node.name, "decoder");
    if (decoder == nullptr)
      return fail(errc::bad_input,
                  fmt::format("no decoder is reached from '{}', and the first "
                              "token is chosen by a decoder's rules",
                              node.name),
                  configs::to_string(node.where));
    prefiller_options options;
    options.mode = node.params.text("mode");
    const auto& decoding = decoder->params;
    options.answer_tokens = decoding.integer("max_new_tokens");
    options.sampling.temperature = decoding.real("temperature");
    options.sampling.top_k = decoding.integer("top_k");
    options.sampling.top_p = decoding.real("top_p");
    options.sampling.seed = context.plan.seed;
    return [options](spawn_context& at) {
      return running_node{at.system.spawn(prefiller,
                                          prompt_maker(at.model, options),
                                          at.owner, at.demand),
                          {},
                          {}};
    };
  };
  return {std::move(kind), std::move(prepare)};
}

} // namespace kvloom::actors
