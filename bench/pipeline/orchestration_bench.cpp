// What the actors add to the engine (P7): the requests of a graph, run by the
// actors, against the same prompts and answers in a plain loop over the same
// loaded model, in one process, in turn.
//
//   orchestration_bench configs/demo.yaml [--set node.param=value]...
//                       [--rounds 5]
//
// A request's time is from the prefiller's queue to its last token, tokenising
// included, in both. `outside` is that time less the time inside the model's
// prefill and steps. Requests go one at a time; no warm-up of the experiment
// is run, the first round of both is thrown away instead. Which side comes
// first alternates. On a machine whose speed drifts, many short rounds
// (--set questions.limit=2 --rounds 40) say more than few long ones.
#include "actors/support/engine_model.hpp"
#include "actors/wiring/registry.hpp"
#include "actors/wiring/run.hpp"
#include "core/base/clock.hpp"
#include "graphs/check/load_run.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kvloom;
namespace fs = std::filesystem;

/// Everything the model was asked for one request, so that it can be asked
/// again; and the time that it took.
struct asked_request {
  question asked;
  std::vector<passage> passages;
  std::int64_t capacity = 0;
  struct extension {
    std::size_t n_ids = 0;
    bool want_logits = false;
  };
  std::vector<extension> extensions;
  std::int64_t extend_ns = 0;
  std::vector<std::int64_t> step_ns;
};

/// Passes everything on to the engine; notes what it was asked and how long
/// that took. One request at a time.
class watched_model : public actors::language_model {
public:
  explicit watched_model(std::shared_ptr<language_model> inner)
      : inner_(std::move(inner)) {}

  std::vector<asked_request> requests; ///< in the order they were started

  std::int64_t context_length() const override {
    return inner_->context_length();
  }
  std::size_t vocabulary_size() const override {
    return inner_->vocabulary_size();
  }
  std::map<std::string, std::string> digests() const override {
    return inner_->digests();
  }
  std::map<std::string, std::string> settings() const override {
    return inner_->settings();
  }
  std::vector<std::string> notes() const override { return inner_->notes(); }

  result<engine::prompt>
  build_prompt(const question& asked,
               std::span<const passage* const> passages) const override {
    // One request is open at a time, so this one is the next to be started.
    next_ = {};
    next_.asked = asked;
    for (const auto* one : passages) next_.passages.push_back(*one);
    return inner_->build_prompt(asked, passages);
  }
  result<std::vector<token_id>> encode(const std::string& text) const override {
    return inner_->encode(text);
  }
  std::unique_ptr<actors::token_chooser>
  new_chooser(const engine::sampling_options& options,
              const std::string& stream) const override {
    return inner_->new_chooser(options, stream);
  }
  std::unique_ptr<actors::answer_text>
  new_answer(std::int64_t max_new_tokens,
             const std::vector<std::string>& stop) const override {
    return inner_->new_answer(max_new_tokens, stop);
  }
  std::vector<std::pair<token_id, float>>
  largest(std::span<const float> logits, std::size_t n) const override {
    return inner_->largest(logits, n);
  }

  result<std::unique_ptr<actors::generation>>
  start(std::int64_t capacity) override {
    next_.capacity = capacity;
    requests.push_back(std::move(next_));
    return inner_->start(capacity);
  }
  result<std::vector<float>> extend(actors::generation& into,
                                    std::span<const token_id> ids,
                                    bool want_logits,
                                    const std::atomic<bool>* stop) override {
    const auto begin = now_ns();
    auto logits = inner_->extend(into, ids, want_logits, stop);
    requests.back().extend_ns += now_ns() - begin;
    requests.back().extensions.push_back({ids.size(), want_logits});
    return logits;
  }
  result<std::span<const float>> step(std::span<actors::generation* const> rows,
                                      std::span<const token_id> ids) override {
    const auto begin = now_ns();
    auto logits = inner_->step(rows, ids);
    requests.back().step_ns.push_back(now_ns() - begin);
    return logits;
  }

private:
  std::shared_ptr<language_model> inner_;
  mutable asked_request next_;
};

/// One request's times, nanoseconds.
struct request_times {
  std::int64_t total = 0;         ///< queue to last token
  std::int64_t first_outside = 0; ///< to the first token, less the prefill
  std::vector<std::int64_t> step_outside; ///< each gap, less its step
};

struct round_times {
  std::vector<request_times> requests;
  std::vector<std::vector<token_id>> ids;
};

std::int64_t sum(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

result<round_times> run_actors(const graphs::run_plan& plan,
                               const actors::node_registry& nodes,
                               const std::shared_ptr<watched_model>& model,
                               const fs::path& folder) {
  model->requests.clear();
  actors::run_environment environment;
  environment.output = folder;
  environment.load_model = [&](const graphs::graph&)
      -> result<std::shared_ptr<actors::language_model>> { return model; };
  auto outcome = actors::run_plan_to_end(plan, nodes, environment);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!outcome) return pass_on(outcome);
  if (outcome->summary.failed > 0
      || outcome->results.size() != model->requests.size())
    return fail(errc::bad_input,
                "every request of the graph has to succeed, one at a time",
                plan.graph_file.string());
  round_times out;
  for (std::size_t i = 0; i < outcome->results.size(); ++i) {
    const auto& line = outcome->results[i];
    const auto& asked = model->requests[i];
    request_times times;
    times.total = *line.ttft_ns + sum(line.itl_ns);
    times.first_outside = *line.ttft_ns - asked.extend_ns;
    for (std::size_t s = 0; s < line.itl_ns.size(); ++s)
      times.step_outside.push_back(line.itl_ns[s] - asked.step_ns[s]);
    out.requests.push_back(std::move(times));
    out.ids.push_back(line.token_ids);
  }
  return out;
}

/// The same request in a plain loop; appends to `out`.
result<void> answer_in_loop(actors::language_model& model,
                            const asked_request& one,
                            const graphs::graph_node& decoder,
                            round_times& out) {
  request_times times;
  std::vector<const passage*> passages;
  for (const auto& each : one.passages) passages.push_back(&each);
  const auto begin = now_ns();
  auto prompt = model.build_prompt(one.asked, passages);
  if (!prompt) return pass_on(prompt);
  const auto ids = prompt->ids();
  auto chooser = model.new_chooser({}, "loop");
  auto kv = model.start(one.capacity);
  if (!kv) return pass_on(kv);
  std::int64_t inside = 0;
  std::size_t at = 0;
  token_id next = 0;
  for (const auto& [n_ids, want_logits] : one.extensions) {
    const auto before = now_ns();
    auto logits = model.extend(**kv, std::span(ids).subspan(at, n_ids),
                               want_logits, nullptr);
    if (!logits) return pass_on(logits);
    inside += now_ns() - before;
    at += n_ids;
    if (want_logits) next = chooser->choose(*logits);
  }
  auto answer = model.new_answer(decoder.params.integer("max_new_tokens"),
                                 decoder.params.texts("stop"));
  auto last = now_ns();
  times.first_outside = last - begin - inside;
  auto* row = kv->get();
  while (!answer->push(next)) {
    const auto before = now_ns();
    auto logits = model.step({&row, 1}, {&next, 1});
    if (!logits) return pass_on(logits);
    const auto took = now_ns() - before;
    next = chooser->choose(*logits);
    const auto now = now_ns();
    times.step_outside.push_back(now - last - took);
    last = now;
  }
  times.total = last - begin;
  out.requests.push_back(std::move(times));
  out.ids.push_back(answer->ids());
  return {};
}

/// Value that a share of `all` lies below; `all` is not empty.
double quantile(std::vector<double> all, double share) {
  const auto at = all.begin()
                  + static_cast<std::ptrdiff_t>(
                      share * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

double median(const std::vector<double>& all) {
  return quantile(all, 0.5);
}

struct side {
  std::vector<double> total_ms, first_us, step_us;

  void add(const round_times& round) {
    for (const auto& one : round.requests) {
      total_ms.push_back(to_ms(one.total));
      first_us.push_back(static_cast<double>(one.first_outside) * 1e-3);
      for (const auto gap : one.step_outside)
        step_us.push_back(static_cast<double>(gap) * 1e-3);
    }
  }
};

void print(const side& actors_side, const side& loop, int rounds) {
  // Request i of round r on one side belongs to the same one on the other.
  std::vector<double> ratios;
  for (std::size_t i = 0; i < loop.total_ms.size(); ++i)
    ratios.push_back(actors_side.total_ms[i] / loop.total_ms[i]);
  fmt::print("{} rounds of {} requests, one at a time\n\n"
             "| | actors | plain loop | target |\n|---|---|---|---|\n",
             rounds, loop.total_ms.size() / static_cast<std::size_t>(rounds));
  fmt::print("| a request, median, ms | {:.2f} | {:.2f} | |\n",
             median(actors_side.total_ms), median(loop.total_ms));
  fmt::print("| outside the model to the first token, median, us | {:.1f} | "
             "{:.1f} | actors less loop <= 200 |\n",
             median(actors_side.first_us), median(loop.first_us));
  fmt::print("| outside the model a step, median, us | {:.1f} | {:.1f} | "
             "<= 36 |\n",
             median(actors_side.step_us), median(loop.step_us));
  fmt::print("\nactors / loop: {:.4f}, the median of paired ratios; half of "
             "them in {:.4f} .. {:.4f} (target <= 1.01)\n",
             median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75));
}

result<void> measure(const graphs::run_plan& plan,
                     const actors::node_registry& nodes, int rounds) {
  const graphs::graph_node* decoder = nullptr;
  for (const auto& node : plan.wiring.nodes)
    if (node.kind == "decoder") decoder = &node;
  if (decoder == nullptr)
    return fail(errc::bad_input, "the graph has no decoder",
                plan.graph_file.string());
  if (decoder->params.real("temperature") > 0
      || decoder->params.integer("max_new_tokens") < 2)
    return fail(errc::bad_input,
                "the loop takes the likeliest tokens, and two at least; set "
                "decoder.temperature to 0 and decoder.max_new_tokens to 2 or "
                "more",
                plan.graph_file.string());
  auto inner = actors::load_engine_model(plan.wiring);
  if (!inner) return pass_on(inner);
  auto model = std::make_shared<watched_model>(*inner);
  const auto folder = fs::temp_directory_path()
                      / fmt::format("kvloom-orchestration-{}", getpid());
  side with_actors, loop;
  std::vector<asked_request> requests; // of the round before
  for (int round = 0; round <= rounds; ++round) {
    round_times acted, looped;
    const auto act = [&]() -> result<void> {
      auto times = run_actors(plan, nodes, model, folder);
      if (!times) return pass_on(times);
      acted = std::move(*times);
      requests = model->requests;
      return {};
    };
    const auto run_loop = [&]() -> result<void> {
      for (const auto& one : requests)
        if (auto done = answer_in_loop(**inner, one, *decoder, looped); !done)
          return done;
      return {};
    };
    const bool loop_first = round % 2 == 1;
    if (auto done = loop_first ? run_loop() : act(); !done) return done;
    if (auto done = loop_first ? act() : run_loop(); !done) return done;
    if (acted.ids != looped.ids)
      return fail(errc::internal, "actors and loop gave different tokens");
    if (round == 0) continue; // cold
    with_actors.add(acted);
    loop.add(looped);
  }
  print(with_actors, loop, rounds);
  return {};
}

} // namespace

int main(int argc, char** argv) {
  std::string file;
  std::vector<std::string> set;
  int rounds = 5;
  CLI::App app{"Times a graph run by actors against a plain loop"};
  app.add_option("file", file, "Graph or experiment")->required();
  app.add_option("--set", set, "node.param=value");
  app.add_option("--rounds", rounds, "Rounds that count")
      ->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  actors::node_registry nodes;
  actors::register_builtin_nodes(nodes);
  auto plan = graphs::load_run({file, set, {}}, actors::kinds_of(nodes));
  if (!plan) {
    fmt::print(stderr, "{}\n", to_string(configs::to_error(plan.error())));
    return 2;
  }
  plan->warmup = 0;
  plan->repeat = 1;
  if (auto done = measure(*plan, nodes, rounds); !done) {
    fmt::print(stderr, "error: {}\n", to_string(done.error()));
    return 3;
  }
  return 0;
}
