#include "actors/nodes/decoder.hpp"

#include "actors/support/errors.hpp"
#include "actors/support/time_left.hpp"
#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace kvloom::actors {

result<std::shared_ptr<const request_result>>
finished_result(const running_request& work) {
  const auto& ids = work.answer->ids();
  if (ids.empty() || ids.size() != work.token_ns.size() || !work.complete)
    return fail(errc::internal,
                fmt::format("an answer of {} tokens has the times of {}",
                            ids.size(), work.token_ns.size()),
                place_of(work.request->plan));
  auto line = work.draft;
  line.ok = true;
  line.answer = work.answer->text();
  line.token_ids = ids;
  line.finish = work.answer->finish();
  for (std::size_t i = 1; i < work.token_ns.size(); ++i)
    line.itl_ns.push_back(work.token_ns[i] - work.token_ns[i - 1]);
  line.e2e_ns = work.token_ns.back() - work.request->emitted_ns;
  if (line.tokens) line.tokens->output = static_cast<std::int64_t>(ids.size());
  return std::make_shared<const request_result>(std::move(line));
}

const std::vector<decoding>& running_batch::fill() {
  while (can_join()) {
    rows_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return rows_;
}

std::vector<decoding> running_batch::take_ended() {
  const auto goes_on = [](const decoding& one) {
    return !one.work->complete && !one.work->failure;
  };
  const auto first = std::stable_partition(rows_.begin(), rows_.end(), goes_on);
  std::vector<decoding> ended(std::make_move_iterator(first),
                              std::make_move_iterator(rows_.end()));
  rows_.erase(first, rows_.end());
  return ended;
}

std::vector<decoding> running_batch::take_rows() {
  return std::exchange(rows_, {});
}

void decoder_state::init(decoder_options options, model_actor owner,
                         std::shared_ptr<const language_model> model) {
  options_ = std::move(options);
  owner_ = std::move(owner);
  model_ = std::move(model);
  batch_ = std::make_unique<running_batch>(options_.batch);
}

void decoder_state::fail_request(const decoding& one, error why) {
  self_->send(
      links_.ledger, failed_atom_v,
      request_failure{one.partial->sequence, std::move(why), one.partial});
  in_.finished(self_, one.edge);
}

void decoder_state::end_request(const decoding& one) {
  if (one.work->failure) {
    fail_request(one, *one.work->failure);
  } else if (auto line = guarded([&] { return finished_result(*one.work); });
             !line) {
    fail_request(one, std::move(line.error()));
  } else {
    out_.push({one.work->request, std::move(*line), 0}, one.edge);
    out_.flush(self_, in_);
  }
  one.work->kv.reset(); // the memory of the KV is scarcer than the message
}

void decoder_state::receive(edge_id edge, const prefilled& item) {
  decoding one{item.work, edge,
               std::make_shared<const request_result>(item.work->draft)};
  auto& work = *item.work;
  const auto begun = guarded([&]() -> result<void> {
    if (auto legal = in_.received(edge); !legal) return pass_on(legal);
    work.answer = model_->new_answer(options_.max_new_tokens, options_.stop);
    work.token_ns.reserve(static_cast<std::size_t>(
        std::min<std::int64_t>(options_.max_new_tokens, 1024)));
    work.token_ns.push_back(work.first_token_ns);
    work.last_token = work.first_token;
    work.complete = work.answer->push(work.first_token);
    return {};
  });
  if (!begun) work.failure = begun.error();
  if (work.failure || work.complete) {
    end_request(one);
    return;
  }
  batch_->add(std::move(one));
  if (!give_way_)
    take_turn();
  else if (batch_->can_join())
    give_way_->store(true, std::memory_order_relaxed);
}

void decoder_state::take_turn() {
  if (give_way_) return;
  const auto& rows = batch_->fill();
  if (rows.empty()) return;
  give_way_ = std::make_shared<std::atomic<bool>>(false);
  auto turn = std::make_shared<decode_turn>();
  turn->give_way = give_way_;
  turn->most_steps = options_.turn_steps;
  std::int64_t last_deadline = 0;
  for (const auto& row : rows) {
    turn->rows.push_back(row.work);
    last_deadline = std::max(last_deadline, row.work->request->deadline_ns);
  }
  // The model looks at each row's own deadline at every step; this one is for
  // a model that does not come back.
  self_->request(owner_, time_left(last_deadline), decode_atom_v, turn)
      .then(
          [this](const decode_turn_ptr&) {
            give_way_.reset();
            for (const auto& one : batch_->take_ended()) end_request(one);
            take_turn();
            end_if_empty();
          },
          [this](const caf::error& why) {
            give_way_->store(true, std::memory_order_relaxed);
            give_way_.reset();
            for (const auto& one : batch_->take_rows())
              fail_request(one, from_caf(why));
            take_turn();
            end_if_empty();
          });
}

void decoder_state::end_if_empty() {
  if (!in_.ended() || give_way_ || !batch_->empty()) return;
  out_.end();
  out_.flush(self_, in_);
}

stage_actor<prefilled>::behavior_type decoder_state::behavior() {
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
      },
      [this](item_atom, edge_id edge, const prefilled& item) {
        receive(edge, item);
      },
      [this](end_atom, edge_id edge) {
        in_.end(edge);
        end_if_empty();
      },
  };
}

stage_actor<prefilled>::behavior_type
decoder(stage_actor<prefilled>::stateful_pointer<decoder_state> self,
        const decoder_options& options, const model_actor& owner,
        const std::shared_ptr<const language_model>& model) {
  static_assert(!std::is_aggregate_v<decoder_state>);
  self->set_exception_handler(exception_handler);
  self->state.init(options, owner, model);
  return self->state.behavior();
}

namespace {

constexpr std::int64_t default_batch = 8, default_top_k = 0;
constexpr double default_top_p = 1;

/// Settings that other settings keep from having an effect. Defaults are no
/// wish, also where a resolved configuration spells them out.
void say_what_will_not_happen(const graphs::graph_node& node,
                              prepare_context& context) {
  const auto unmet = [&](const std::string& what) {
    context.unmet.push_back(fmt::format("{}.{}", node.name, what));
  };
  // Credit comes back when a request ends, so no more than that are decoded.
  std::int64_t most = 0;
  for (const auto& edge : context.plan.wiring.edges)
    if (edge.to_node == node.name) most += edge.credit;
  std::string limit = fmt::format("the credit of the edges to it is {}", most);
  for (const auto& other : context.plan.wiring.nodes) {
    if (!other.params.has("open")) continue;
    const auto open = other.params.integer("open");
    if (open == 0 || open >= most) continue;
    most = open;
    limit = fmt::format("{}.open is {}", other.name, open);
  }
  const auto batch = node.params.integer("batch");
  if (batch != default_batch && batch > most)
    unmet(fmt::format("batch is {}, but {}, so that at most {} requests take "
                      "their steps together",
                      batch, limit, most));
  if (node.params.real("temperature") > 0) return;
  if (node.params.integer("top_k") != default_top_k)
    unmet("top_k is set, but has no effect at temperature 0");
  if (node.params.real("top_p") != default_top_p)
    unmet("top_p is set, but has no effect at temperature 0");
}

} // namespace

node_type decoder_type() {
  graphs::actor_kind kind;
  kind.name = "decoder";
  kind.help = "Decodes answers, one token a step.";
  kind.inputs = {input_of<prefilled>("request", "KV with a first token.")};
  kind.outputs = {port_of<answered>("answer", "Answers with their times.")};
  kind.params = {
      integer_param("max_new_tokens", "An answer ends after so many tokens.",
                    32, 1, 1048576, "tokens"),
      real_param("temperature", "0 takes the likeliest token each time.", 0, 0,
                 100),
      integer_param("top_k", "Sample among so many likeliest tokens; 0 is all.",
                    default_top_k, 0, 1e9, "tokens"),
      real_param("top_p",
                 "Sample among the likeliest tokens that together have this "
                 "probability; 1 is all.",
                 default_top_p, 0, 1),
      texts_param("stop", "An answer ends before the first of these texts."),
      integer_param("batch",
                    "Requests that take their steps together, at most; no more "
                    "than the source has open, nor than the credit of the "
                    "edges to here.",
                    default_batch, 1, 4096, "requests"),
      integer_param("turn_steps",
                    "Steps that decoding takes while a prefill waits for the "
                    "model.",
                    16, 1, 1048576, "steps"),
  };
  auto prepare = [](const graphs::graph_node& node,
                    prepare_context& context) -> result<node_spawner> {
    decoder_options options;
    options.max_new_tokens = node.params.integer("max_new_tokens");
    options.stop = node.params.texts("stop");
    options.batch = static_cast<std::size_t>(node.params.integer("batch"));
    options.turn_steps = node.params.integer("turn_steps");
    for (const auto& text : options.stop)
      if (text.empty())
        return fail(errc::bad_input,
                    fmt::format("{}.stop holds an empty text, which would end "
                                "every answer; remove it",
                                node.name),
                    configs::to_string(node.where));
    say_what_will_not_happen(node, context);
    return [options](spawn_context& at) {
      return running_node{
          at.system.spawn(decoder, options, at.owner,
                          std::shared_ptr<const language_model>(at.model)),
          {},
          {}};
    };
  };
  return {std::move(kind), std::move(prepare)};
}

} // namespace kvloom::actors
