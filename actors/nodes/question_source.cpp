#include "actors/nodes/question_source.hpp"

#include "actors/support/errors.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace kvloom::actors {

request_plan plan_requests(const std::shared_ptr<const datasets::dataset>& data,
                           const plan_options& options) {
  std::vector<std::size_t> order(data->questions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.shuffled) {
    random_stream random(options.seed, "order");
    for (auto i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
  }
  order.erase(order.begin(),
              order.begin()
                  + std::min<std::int64_t>(options.offset, std::ssize(order)));
  if (options.limit > 0 && std::ssize(order) > options.limit)
    order.resize(static_cast<std::size_t>(options.limit));
  auto plan = std::make_shared<std::vector<planned_request>>();
  const auto add = [&](std::size_t place, std::int64_t repeat, bool warmup) {
    plan->push_back({plan->size(),
                     static_cast<std::uint32_t>(repeat),
                     warmup,
                     {data, &data->questions[order[place]]}});
  };
  if (order.empty()) return plan;
  for (std::int64_t i = 0; i < options.warmup; ++i)
    add(static_cast<std::size_t>(i) % order.size(), 0, true);
  for (std::int64_t repeat = 0; repeat < options.repeat; ++repeat)
    for (std::size_t i = 0; i < order.size(); ++i) add(i, repeat, false);
  return plan;
}

emission::emission(request_plan plan, std::int64_t most_open,
                   std::int64_t deadline_ns)
    : plan_(std::move(plan)), most_open_(static_cast<std::uint64_t>(most_open)),
      deadline_ns_(deadline_ns), open_(plan_->size(), false) {}

bool emission::may_emit() const {
  if (exhausted()) return false;
  if (most_open_ > 0 && n_open_ >= most_open_) return false;
  const bool leaves_warmup
      = next_ > 0 && (*plan_)[next_ - 1].warmup && !(*plan_)[next_].warmup;
  return !leaves_warmup || n_open_ == 0;
}

request_ptr emission::next(std::int64_t now) {
  const auto& planned = (*plan_)[next_];
  open_[next_] = true;
  ++next_;
  ++n_open_;
  return std::make_shared<const open_request>(
      open_request{planned, now, now + deadline_ns_});
}

void emission::finished(std::uint64_t sequence) {
  if (sequence >= open_.size() || !open_[sequence]) return;
  open_[sequence] = false;
  --n_open_;
}

void question_source_state::pump() {
  if (!begun_) return; // credit may come first
  // Never more than what can go at once: a question's clock starts when it
  // leaves.
  while (out_.ready() && questions_->may_emit()) {
    auto request = questions_->next(now_ns());
    self_->send(links_.ledger, emitted_atom_v, request);
    out_.push({std::move(request), 0}, std::nullopt);
    out_.flush(self_, [](edge_id) {});
  }
  if (questions_->exhausted()) {
    out_.end();
    out_.flush(self_, [](edge_id) {});
  }
}

source_node_actor::behavior_type question_source_state::behavior() {
  return {
      [this](link_out_atom, const out_link& link) { out_.link(link); },
      [](link_in_atom, const in_link&) {}, // a source has no inputs
      [this](begin_atom, const run_links& links) {
        links_ = links;
        begun_ = true;
        pump();
      },
      [this](credit_atom, edge_id, std::uint32_t n) {
        out_.grant(n);
        pump();
      },
      [this](finished_atom, std::uint64_t sequence) {
        questions_->finished(sequence);
        pump();
      },
      [this](halt_atom) {
        questions_->halt();
        pump();
      },
  };
}

source_node_actor::behavior_type
question_source(source_node_actor::stateful_pointer<question_source_state> self,
                const emission& questions) {
  static_assert(!std::is_aggregate_v<question_source_state>);
  self->set_exception_handler(exception_handler);
  self->state.init(questions);
  return self->state.behavior();
}

node_spawner source_of(const std::shared_ptr<const datasets::dataset>& data,
                       const configs::resolved_params& params,
                       prepare_context& context,
                       const datasets::read_options& cut) {
  context.data = data;
  context.digests["data"] = data->sha256;
  for (const auto& note : data->notes)
    context.notes.push_back(data->path.filename().string() + ": " + note);
  context.requests = plan_requests(
      data, {params.text("order") == "shuffled", context.plan.seed,
             context.plan.repeat, context.plan.warmup, cut.offset, cut.limit});
  const emission questions(context.requests, params.integer("open"),
                           params.integer("deadline"));
  return [questions](spawn_context& at) {
    const auto self = at.system.spawn(question_source, questions);
    return running_node{self, self, {}};
  };
}

node_type question_source_type() {
  graphs::actor_kind kind;
  kind.name = "question_source";
  kind.help = "Reads a data set and asks its questions.";
  kind.source = true;
  kind.outputs
      = {port_of<asked_question>("question", "Questions with their passages.")};
  kind.params = {
      path_param("path", "The data set: JSON or JSON lines, plain or gzip."),
      integer_param("limit",
                    "Ask only so many questions of the order; 0 is all of "
                    "them.",
                    0, 0, 1e15, "questions"),
      integer_param("offset",
                    "Skip so many questions at the front of the order.", 0, 0,
                    1e15, "questions"),
      choice_param("order",
                   "The file's order, or one shuffled by the run's seed, the "
                   "same in every repeat; with a limit, a sample of the file.",
                   "file", {"file", "shuffled"}),
      integer_param(
          "open",
          "Questions that may be unanswered at a time; 1 measures each "
          "by itself, 0 leaves it to the credit of the edges.",
          1, 0, 65536, "questions"),
      duration_param("deadline", "A question that has no answer by then fails.",
                     600, 1e-3, 7.0 * 86400),
  };
  auto prepare = [](const graphs::graph_node& node,
                    prepare_context& context) -> result<node_spawner> {
    const auto& params = node.params;
    const datasets::read_options asked{params.integer("limit"),
                                       params.integer("offset")};
    // A sample may need any row; the front of the file needs no other.
    const bool shuffled = params.text("order") == "shuffled";
    auto read = datasets::read_dataset(
        params.text("path"), shuffled ? datasets::read_options{} : asked);
    if (!read) return pass_on(read);
    const auto n = std::max<std::int64_t>(
        std::ssize(read->questions) - (shuffled ? asked.offset : 0), 0);
    if (n == 0)
      return fail(errc::bad_input,
                  fmt::format("there is no question to ask (offset {}, limit "
                              "{}); give a data set with questions",
                              params.integer("offset"),
                              params.integer("limit")),
                  params.text("path"));
    if (asked.limit > n)
      context.unmet.push_back(
          fmt::format("{} asks {} questions and the data set has {} from "
                      "offset {}",
                      node.name, asked.limit, n, asked.offset));
    return source_of(
        std::make_shared<const datasets::dataset>(std::move(*read)), params,
        context, shuffled ? asked : datasets::read_options{});
  };
  return {std::move(kind), std::move(prepare)};
}

} // namespace kvloom::actors
