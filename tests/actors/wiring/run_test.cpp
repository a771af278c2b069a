// Whole runs with real threads and a scripted model. Every test has the time
// limit of the program: a hang is a failure.
#include "actors/nodes/recorder.hpp"
#include "actors/support/errors.hpp"
#include "actors/wiring/run.hpp"
#include "core/base/clock.hpp"
#include "tests/actors/run_plans.hpp"
#include "tests/actors/scripted_model.hpp"

#include <caf/send.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::int64_t ms = 1'000'000; // of a nanosecond deadline

struct run_test : testing::Test {
  scratch_folder scratch;
  node_registry nodes;
  std::shared_ptr<datasets::dataset> data;
  std::shared_ptr<scripted_model> model;
  run_environment environment;
  std::vector<run_progress> progress;

  void use(std::size_t n_questions, scripted_options options = {}) {
    data = some_questions(n_questions);
    model = std::make_shared<scripted_model>(std::move(options));
    nodes = {};
    register_builtin_nodes(nodes);
    nodes.add(memory_source(data));
    environment.output = scratch / "run";
    environment.load_model = [this](const graphs::graph&)
        -> result<std::shared_ptr<language_model>> { return model; };
    environment.on_progress
        = [this](const run_progress& now) { progress.push_back(now); };
  }

  result<run_outcome> run(const values& set = {}, std::int64_t credit = 4) {
    return run_plan_to_end(usual_chain(nodes, set, credit), nodes, environment);
  }

  run_outcome run_ok(const values& set = {}, std::int64_t credit = 4) {
    auto outcome = run(set, credit);
    if (!outcome) {
      ADD_FAILURE() << to_string(outcome.error());
      return {};
    }
    EXPECT_TRUE(outcome->survivors.empty());
    EXPECT_EQ(*model->live_generations, 0) << "KV was left behind";
    EXPECT_LE(model->most_running, 1) << "two calls at once at the model";
    return std::move(*outcome);
  }

  std::string expected(std::size_t place, std::int64_t most = 32) const {
    const auto& asked = data->questions[place];
    std::vector<std::string> texts;
    for (const auto& one : asked.passages) texts.push_back(one.text);
    return model->expected_answer(scripted_prompt(asked, texts), most);
  }

  std::vector<json> lines() {
    std::vector<json> all;
    for (const auto& line : lines_of(environment.output / "results.jsonl"))
      all.push_back(json::parse(line));
    return all;
  }
};

values in_order() {
  return {{"retriever.order", std::string("original")}};
}

values many_open(std::int64_t open = 0) {
  auto set = in_order();
  set["questions.open"] = open;
  return set;
}

std::size_t n_failed_with(const run_outcome& outcome, const std::string& why) {
  return static_cast<std::size_t>(std::count_if(
      outcome.results.begin(), outcome.results.end(), [&](const auto& line) {
        return !line.ok && line.error_text
               && line.error_text->find(why) != std::string::npos;
      }));
}

} // namespace

TEST_F(run_test, every_question_gets_its_answer_in_order) {
  use(20);
  const auto outcome = run_ok(in_order());
  ASSERT_EQ(outcome.results.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto& line = outcome.results[i];
    EXPECT_EQ(line.sequence, i);
    EXPECT_EQ(line.id, "q" + std::to_string(i));
    EXPECT_EQ(line.answer, expected(i));
    EXPECT_EQ(line.finish, finish_reason::eos);
    EXPECT_EQ(line.ttft_ns, line.parts.sum_ns());
    EXPECT_EQ(line.itl_ns.size() + 1, line.token_ids.size());
    EXPECT_GT(*line.e2e_ns, *line.ttft_ns);
    EXPECT_TRUE(line.tokens->closes());
    EXPECT_TRUE(line.retrieve_ns);
  }
  EXPECT_EQ(model->largest_batch, 1); // one question at a time
  EXPECT_EQ(exit_code_of(outcome, true), 0);
  EXPECT_EQ(outcome.summary.ok, 20u);
  ASSERT_EQ(progress.size(), 20u);
  EXPECT_EQ(progress.back().done, 20u);
  EXPECT_EQ(progress.back().total, 20u);
}

TEST_F(run_test, the_folder_holds_everything) {
  use(3);
  auto set = in_order();
  set["results.first_logits"] = std::int64_t{2};
  set["results.token_id_f1"] = true;
  environment.command = {"kvloom", "run", "test.yaml"};
  const auto outcome = run_ok(set);
  const auto written = lines();
  ASSERT_EQ(written.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(written[i]["status"], "ok");
    EXPECT_EQ(written[i]["question"], data->questions[i].text);
    EXPECT_EQ(written[i]["answer"], expected(i));
    EXPECT_EQ(written[i]["first_logits"].size(), 2u);
    EXPECT_EQ(written[i]["retrieved"].size(), 2u);
    for (const auto* score : {"em", "f1", "rouge_l", "f1_token_ids"})
      EXPECT_TRUE(written[i]["scores"].contains(score)) << score;
  }
  const auto manifest
      = json::parse(std::ifstream(environment.output / "manifest.json"));
  EXPECT_EQ(manifest["digests"]["model"], "scripted");
  EXPECT_EQ(manifest["digests"]["data"], data->sha256);
  EXPECT_EQ(manifest["command"][2], "test.yaml");
  const auto summary
      = json::parse(std::ifstream(environment.output / "summary.json"));
  EXPECT_EQ(summary["requests"], 3);
  EXPECT_TRUE(
      std::filesystem::exists(environment.output / "config.resolved.yaml"));
}

TEST_F(run_test, many_open_requests_step_together_with_the_same_answers) {
  scripted_options slow;
  slow.step_time = std::chrono::microseconds(300);
  slow.answer_tokens = 20;
  use(40, slow);
  const auto outcome = run_ok(many_open(), 8);
  ASSERT_EQ(outcome.results.size(), 40u);
  for (const auto& line : outcome.results)
    EXPECT_EQ(line.answer, expected(line.sequence));
  EXPECT_GT(model->largest_batch, 1);
  EXPECT_LE(model->largest_batch, 8);
}

TEST_F(run_test, duplicate_questions_are_answered_each) {
  use(12);
  for (auto& one : data->questions) {
    one = data->questions[0]; // same id, same text
  }
  const auto outcome = run_ok(many_open());
  ASSERT_EQ(outcome.results.size(), 12u);
  std::set<std::uint64_t> sequences;
  for (const auto& line : outcome.results) {
    EXPECT_EQ(line.id, "q0");
    EXPECT_EQ(line.answer, expected(0));
    sequences.insert(line.sequence);
  }
  EXPECT_EQ(sequences.size(), 12u);
}

TEST_F(run_test, credit_of_one_is_enough) {
  use(30);
  const auto outcome = run_ok(many_open(), 1);
  EXPECT_EQ(outcome.summary.ok, 30u);
}

TEST_F(run_test, warmups_and_repeats_are_told_apart) {
  use(4);
  auto plan = usual_chain(nodes, in_order());
  plan.warmup = 3;
  plan.repeat = 2;
  const auto outcome = run_plan_to_end(plan, nodes, environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->results.size(), 8u);
  EXPECT_EQ(outcome->summary.warmups, 3u);
  EXPECT_EQ(outcome->results[7].repeat, 1u);
  EXPECT_EQ(model->prefills, 11);
  const auto written = lines();
  ASSERT_EQ(written.size(), 11u);
  EXPECT_EQ(written[0]["warmup"], true);
  EXPECT_FALSE(written[3].contains("warmup"));
}

TEST_F(run_test, an_answer_of_one_token_has_no_tpot) {
  use(2);
  auto set = in_order();
  set["decoder.max_new_tokens"] = std::int64_t{1};
  const auto outcome = run_ok(set);
  for (const auto& line : outcome.results) {
    EXPECT_EQ(line.token_ids.size(), 1u);
    EXPECT_EQ(line.finish, finish_reason::length);
    EXPECT_FALSE(line.tpot_ns());
  }
  EXPECT_EQ(model->steps, 0);
}

TEST_F(run_test, a_prompt_that_is_too_long_fails_alone) {
  scripted_options options;
  options.context = 200;
  use(5, options);
  data->questions[2].passages[0].text = std::string(300, 'x');
  const auto outcome = run_ok(in_order());
  EXPECT_EQ(outcome.summary.ok, 4u);
  EXPECT_EQ(n_failed_with(outcome, "bad_input: request \"q2\": the prompt has"),
            1u);
  EXPECT_EQ(exit_code_of(outcome, false), 1);
  EXPECT_EQ(lines()[2]["status"], "failed");
}

TEST_F(run_test, a_model_that_fails_or_throws_fails_that_request) {
  scripted_options options;
  std::atomic<int> calls{0};
  options.on_prefill = [&](const std::vector<token_id>&) -> result<void> {
    switch (++calls) {
    case 2:
      return fail(errc::environment, "no memory left");
    case 4:
      throw std::runtime_error("a kernel threw");
    default:
      return {};
    }
  };
  use(6, options);
  const auto outcome = run_ok(in_order());
  EXPECT_EQ(outcome.summary.ok, 4u);
  EXPECT_EQ(n_failed_with(outcome, "no memory left"), 1u);
  EXPECT_EQ(n_failed_with(outcome, "a kernel threw"), 1u);
}

TEST_F(run_test, a_failing_step_fails_the_rows_of_the_turn) {
  scripted_options options;
  std::atomic<int> calls{0};
  options.on_step = [&](const std::vector<token_id>&) -> result<void> {
    if (++calls == 3) throw std::runtime_error("a kernel threw");
    return {};
  };
  use(4, options);
  const auto outcome = run_ok(in_order());
  EXPECT_EQ(n_failed_with(outcome, "a kernel threw"), 1u);
  EXPECT_EQ(outcome.summary.ok, 3u);
}

TEST_F(run_test, a_passed_deadline_fails_the_request_and_the_run_goes_on) {
  scripted_options options;
  std::atomic<int> calls{0};
  options.on_prefill = [&](const std::vector<token_id>&) -> result<void> {
    if (++calls == 2) std::this_thread::sleep_for(milliseconds(250));
    return {};
  };
  use(5, options);
  auto set = in_order();
  set["questions.deadline"] = 100 * ms;
  const auto outcome = run_ok(set);
  EXPECT_EQ(outcome.results.size(), 5u);
  EXPECT_GE(n_failed_with(outcome, "deadline"), 1u);
  EXPECT_GE(outcome.summary.ok, 2u);
}

TEST_F(run_test, a_long_answer_ends_at_its_deadline) {
  scripted_options options;
  options.answer_tokens = 100000;
  options.step_time = milliseconds(1);
  options.context = 1 << 20;
  use(2, options);
  auto set = in_order();
  set["questions.deadline"] = 150 * ms;
  set["decoder.max_new_tokens"] = std::int64_t{100000};
  const auto begin = now_ns();
  const auto outcome = run_ok(set);
  EXPECT_EQ(n_failed_with(outcome, "deadline"), 2u);
  EXPECT_LT(now_ns() - begin, 3000 * ms);
}

TEST_F(run_test, stop_keeps_what_is_finished) {
  scripted_options options;
  options.step_time = milliseconds(2);
  use(400, options);
  std::atomic<bool> stop{false};
  environment.stop = &stop;
  environment.on_progress = [&](const run_progress& now) {
    if (now.done == 3) stop = true;
  };
  const auto begin = now_ns();
  const auto outcome = run_ok(many_open());
  EXPECT_LT(now_ns() - begin, 5000 * ms);
  EXPECT_TRUE(outcome.summary.interrupted);
  EXPECT_GE(outcome.summary.ok, 3u);
  EXPECT_GT(outcome.not_asked, 300u);
  EXPECT_EQ(outcome.results.size() + outcome.not_asked, 400u);
  EXPECT_EQ(n_failed_with(outcome, "cancelled"), outcome.summary.failed);
  EXPECT_EQ(lines().size(), outcome.results.size());
  EXPECT_EQ(exit_code_of(outcome, false), 1);
  EXPECT_TRUE(std::filesystem::exists(environment.output / "summary.json"));
}

TEST_F(run_test, stop_ends_a_long_prefill) {
  scripted_options options;
  options.prefill_time = std::chrono::seconds(100);
  use(3, options);
  std::atomic<bool> stop{false};
  environment.stop = &stop;
  std::thread presser([&] {
    while (model->running == 0) std::this_thread::sleep_for(milliseconds(1));
    stop = true;
  });
  const auto begin = now_ns();
  const auto outcome = run_ok(in_order());
  presser.join();
  EXPECT_LT(now_ns() - begin, 5000 * ms);
  EXPECT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(n_failed_with(outcome, "cancelled"), 1u);
}

TEST_F(run_test, stop_before_the_first_question_writes_nothing) {
  use(3);
  std::atomic<bool> stop{true};
  environment.stop = &stop;
  const auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::cancelled);
  EXPECT_FALSE(std::filesystem::exists(environment.output));
}

TEST_F(run_test, a_stage_that_throws_fails_its_requests) {
  use(4);
  graphs::actor_kind kind;
  kind.name = "thrower";
  kind.inputs = {input_of<retrieved>("in", "In.")};
  kind.outputs = {port_of<retrieved>("out", "Out.")};
  nodes.add(stage_type<retrieved, retrieved>(
      kind,
      [](const graphs::graph_node&,
         prepare_context&) -> result<stage_function<retrieved, retrieved>> {
        return [](const retrieved& item) -> result<retrieved> {
          if (item.request->plan.sequence % 2 == 1)
            throw std::logic_error("odd ones are not for me");
          return item;
        };
      }));
  const auto outcome
      = run_plan_to_end(chain(nodes, {{"questions", "questions_in_memory"},
                                      {"retriever", "retriever"},
                                      {"thrower", "thrower"},
                                      {"prefiller", "prefiller"},
                                      {"decoder", "decoder"},
                                      {"results", "recorder"}}),
                        nodes, environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->summary.ok, 2u);
  EXPECT_EQ(n_failed_with(*outcome, "odd ones are not for me"), 2u);
  EXPECT_FALSE(outcome->lost_actor);
}

namespace {

/// A node of a user's own that misbehaves as an actor, not as a function.
enum class fault { dies, quits, swallows };

stage_actor<retrieved>::behavior_type
faulty(stage_actor<retrieved>::pointer self, fault what) {
  self->set_exception_handler(exception_handler);
  auto in = std::make_shared<in_port>();
  return {
      [](link_out_atom, const out_link&) {},
      [=](link_in_atom, const in_link& link) { in->link(link); },
      [=](begin_atom, const run_links&) { in->open(self); },
      [](credit_atom, edge_id, std::uint32_t) {},
      [=](item_atom, edge_id, const retrieved&) {
        if (what == fault::dies) throw std::runtime_error("the index is gone");
        if (what == fault::quits) self->quit();
      },
      [](end_atom, edge_id) {},
  };
}

node_type faulty_type(fault what) {
  node_type type;
  type.kind.name = "faulty";
  type.kind.inputs = {input_of<retrieved>("in", "In.")};
  type.kind.outputs = {port_of<retrieved>("out", "Out.")};
  type.prepare = [what](const graphs::graph_node&,
                        prepare_context&) -> result<node_spawner> {
    return [what](spawn_context& at) {
      return running_node{at.system.spawn(faulty, what), {}, {}};
    };
  };
  return type;
}

const std::vector<std::pair<std::string, std::string>> with_faulty{
    {"questions", "questions_in_memory"},
    {"retriever", "retriever"},
    {"broken", "faulty"},
    {"prefiller", "prefiller"},
    {"decoder", "decoder"},
    {"results", "recorder"}};

} // namespace

TEST_F(run_test, an_actor_that_dies_fails_the_rest_with_the_reason) {
  for (const auto what : {fault::dies, fault::quits}) {
    use(6);
    environment.output = scratch / (what == fault::dies ? "dies" : "quits");
    nodes.add(faulty_type(what));
    const auto begin = now_ns();
    const auto outcome
        = run_plan_to_end(chain(nodes, with_faulty), nodes, environment);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    EXPECT_LT(now_ns() - begin, 5000 * ms);
    EXPECT_EQ(outcome->results.size(), 6u);
    EXPECT_EQ(n_failed_with(*outcome, "the actor 'broken' ended"), 6u);
    if (what == fault::dies) {
      EXPECT_EQ(n_failed_with(*outcome, "the index is gone"), 6u);
    }
    ASSERT_TRUE(outcome->lost_actor);
    EXPECT_TRUE(outcome->survivors.empty());
    EXPECT_EQ(lines().size(), 6u);
    EXPECT_EQ(exit_code_of(*outcome, false), 1);
  }
}

TEST_F(run_test, an_actor_that_swallows_requests_costs_their_deadlines_only) {
  use(3);
  nodes.add(faulty_type(fault::swallows));
  const auto outcome = run_plan_to_end(
      chain(nodes, with_faulty, {{"questions.deadline", 50 * ms}}), nodes,
      environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(n_failed_with(*outcome, "deadline"), 3u);
}

TEST_F(run_test, a_graph_without_credit_left_is_given_up) {
  use(40); // more than the edges can hold
  nodes.add(faulty_type(fault::swallows));
  environment.least_stall = milliseconds(200);
  const auto outcome = run_plan_to_end(
      chain(nodes, with_faulty, {{"questions.deadline", 20 * ms}}), nodes,
      environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->results.size(), 40u);
  EXPECT_GE(n_failed_with(*outcome, "deadline"), 4u);
  EXPECT_GE(n_failed_with(*outcome, "gives no credit back"), 1u);
  EXPECT_EQ(outcome->summary.failed, 40u);
}

TEST_F(run_test, a_recorder_that_dies_leaves_whole_books) {
  use(6);
  auto type = recorder_type();
  const auto usual = type.prepare;
  type.kind.name = "mortal";
  type.prepare = [usual](const graphs::graph_node& node,
                         prepare_context& context) -> result<node_spawner> {
    auto spawner = usual(node, context);
    return [spawner](spawn_context& at) {
      auto spawned = (*spawner)(at);
      caf::anon_send_exit(spawned.node, caf::exit_reason::kill);
      return spawned;
    };
  };
  nodes.add(type);
  const auto outcome
      = run_plan_to_end(chain(nodes, {{"questions", "questions_in_memory"},
                                      {"retriever", "retriever"},
                                      {"prefiller", "prefiller"},
                                      {"decoder", "decoder"},
                                      {"results", "mortal"}}),
                        nodes, environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->results.size(), 6u);
  EXPECT_EQ(n_failed_with(*outcome, "the actor 'results' ended"), 6u);
  EXPECT_EQ(lines().size(), 6u);
}

TEST_F(run_test, a_model_that_hangs_is_named_and_not_waited_for) {
  const auto held = std::make_shared<gate>();
  scripted_options options;
  options.on_prefill = [held](const std::vector<token_id>&) -> result<void> {
    held->wait();
    return {};
  };
  use(3, options);
  environment.grace = milliseconds(200);
  environment.least_stall = milliseconds(200);
  auto set = in_order();
  set["questions.deadline"] = 50 * ms;
  const auto begin = now_ns();
  const auto outcome = run(set);
  EXPECT_LT(now_ns() - begin, 10'000 * ms);
  held->open();
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->summary.failed, 3u);
  EXPECT_EQ(outcome->survivors, std::vector<std::string>{"the model's owner"});
  EXPECT_EQ(lines().size(), 3u);
}

TEST_F(run_test, bad_input_leaves_no_folder) {
  use(3);
  environment.load_model
      = [](const graphs::graph&) -> result<std::shared_ptr<language_model>> {
    return fail(errc::environment, "no such model", "x.gguf");
  };
  EXPECT_EQ(run().error().place, "x.gguf");
  EXPECT_FALSE(std::filesystem::exists(environment.output));
  environment.load_model
      = [](const graphs::graph&) -> result<std::shared_ptr<language_model>> {
    throw std::bad_alloc();
  };
  EXPECT_FALSE(run());
  EXPECT_FALSE(std::filesystem::exists(environment.output));
}

TEST_F(run_test, an_output_folder_that_exists_is_left_alone) {
  use(3);
  std::filesystem::create_directory(environment.output);
  const auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::bad_input);
  EXPECT_TRUE(std::filesystem::is_empty(environment.output));
  EXPECT_EQ(model->prefills, 0);
}

TEST_F(run_test, an_output_folder_that_cannot_be_made_is_the_environment) {
  use(1);
  environment.output = "/proc/kvloom/out";
  const auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::environment);
  EXPECT_EQ(model->prefills, 0);
}

TEST_F(run_test, graphs_that_cannot_run_are_refused) {
  use(1);
  const auto refused
      = [&](const graphs::run_plan& plan, const std::string& word) {
          const auto outcome = run_plan_to_end(plan, nodes, environment);
          ASSERT_FALSE(outcome);
          EXPECT_EQ(outcome.error().code, errc::bad_input);
          EXPECT_NE(outcome.error().message.find(word), std::string::npos)
              << outcome.error().message;
        };
  refused(chain(nodes, {{"questions", "questions_in_memory"}}), "recorder");
  refused(chain(nodes, {{"results", "recorder"}}), "source");
  auto two = usual_chain(nodes, {});
  two.wiring.nodes.push_back(two.wiring.nodes.back());
  two.wiring.nodes.back().name = "more";
  refused(two, "'more'");
  auto headless = usual_chain(nodes, {});
  std::erase_if(headless.wiring.edges, [](const graphs::graph_edge& edge) {
    return edge.to_node == "decoder";
  });
  refused(headless, "decoder");
  EXPECT_FALSE(std::filesystem::exists(environment.output));
}

TEST_F(run_test, a_failure_in_the_first_instant_is_heard) {
  // The only question fails in the retriever, before anything else happens:
  // ids can't be searched, and three are more than top_k.
  use(1);
  for (auto& one : data->questions[0].passages) one.ids = {1, 2};
  const auto few
      = static_cast<std::int64_t>(data->questions[0].passages.size()) - 1;
  ASSERT_GT(few, 0);
  for (int round = 0; round < 100; ++round) {
    environment.output = scratch / std::to_string(round);
    const auto outcome = run_ok({{"retriever.top_k", few}});
    ASSERT_EQ(outcome.summary.failed, 1u) << "round " << round;
  }
}

TEST_F(run_test, a_run_that_cannot_write_ends) {
  use(200);
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handled = std::signal(SIGXFSZ, SIG_IGN);
  environment.on_progress = [&](const run_progress& now) {
    progress.push_back(now);
    if (now.done != 3) return;
    // As on a full disk: nothing that is open takes another byte.
    auto full = before;
    full.rlim_cur = 1;
    setrlimit(RLIMIT_FSIZE, &full);
  };
  auto outcome = run(in_order());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handled);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  ASSERT_TRUE(outcome->write_failure);
  EXPECT_EQ(exit_code_of(*outcome, false), 3);
  // Every request is accounted for, and most were not computed.
  EXPECT_EQ(outcome->results.size(), 200u);
  EXPECT_GT(outcome->summary.failed, 100u);
}

TEST_F(run_test, strict_fails_what_did_not_happen) {
  use(1);
  run_outcome outcome;
  EXPECT_EQ(exit_code_of(outcome, true), 0);
  outcome.unmet = {"200 questions were asked for and 150 are there"};
  EXPECT_EQ(exit_code_of(outcome, false), 0);
  EXPECT_EQ(exit_code_of(outcome, true), 1);
  outcome.write_failure = error{errc::environment, "disk full", {}};
  EXPECT_EQ(exit_code_of(outcome, false), 3);
}

namespace {

/// Resident memory of this process in MiB.
double resident_mib() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  in >> total >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

} // namespace

// Time outside the model: between the moments at which the model was free and
// at which the next call began. The bounds leave room for a busy machine; the
// numbers printed are the measurement.
TEST_F(run_test, the_actors_cost_little_time_and_memory) {
  scripted_options options;
  options.answer_tokens = 32;
  use(5000, options);
  auto set = in_order();
  set["decoder.max_new_tokens"] = std::int64_t{16};
  std::vector<double> memory;
  environment.on_progress = [&](const run_progress& now) {
    if (now.done % 1000 == 0) memory.push_back(resident_mib());
  };
  const auto outcome = run_ok(set);
  ASSERT_EQ(outcome.summary.ok, 5000u);
  std::vector<std::int64_t> e2e, gaps;
  for (const auto& line : outcome.results) {
    e2e.push_back(*line.e2e_ns);
    gaps.insert(gaps.end(), line.itl_ns.begin(), line.itl_ns.end());
  }
  const auto median = [](std::vector<std::int64_t>& all) {
    const auto middle
        = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return static_cast<double>(*middle) * 1e-3;
  };
  const double request_us = median(e2e), step_us = median(gaps);
  const double wall_us
      = static_cast<double>(outcome.summary.wall_ns) * 1e-3 / 5000;
  std::printf("a request: %.1f us to its last token, %.1f us to the next "
              "request; a step: %.2f us; memory at each 1000: ",
              request_us, wall_us, step_us);
  for (const double mib : memory) std::printf("%.1f ", mib);
  std::printf("MiB\n");
  EXPECT_LT(request_us, 5000);
  EXPECT_LT(step_us, 100);
  ASSERT_GE(memory.size(), 4u);
  EXPECT_LT(memory.back() - memory[1], 20);
}

TEST_F(run_test, two_hundred_rounds_all_end) {
  use(3);
  std::atomic<bool> stop{false};
  for (std::uint64_t round = 0; round < 200; ++round) {
    environment.output = scratch / std::to_string(round);
    stop = false;
    environment.stop = &stop;
    // Every third round is cut short somewhere.
    environment.on_progress = [&](const run_progress& now) {
      if (round % 3 == 0 && now.done == 1 + round / 3 % 3) stop = true;
    };
    const auto outcome = run(many_open());
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    ASSERT_TRUE(outcome->survivors.empty()) << "round " << round;
    ASSERT_EQ(outcome->results.size() + outcome->not_asked, 3u);
    ASSERT_EQ(*model->live_generations, 0);
  }
}
