#include "graphs/check/experiment_file.hpp"
#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class experiment_file : public run_files {
protected:
  void SetUp() override {
    run_files::SetUp();
    write("g.yaml", sound_graph);
  }

  std::string with(const std::string& text) {
    write("e.yaml", "schema: kvloom/experiment/1\n" + text);
    return problems("e.yaml");
  }
};

TEST_F(experiment_file, sets_values_in_both_ways) {
  ASSERT_EQ(with("graph: g.yaml\nset:\n  retriever.top_k: 7\n"
                 "  decoder: {max_new_tokens: 3, temperature: 1e-1}\n"
                 "  model.threads: 2\n  prompt: {system: no}\n"),
            "");
  const auto plan = load("e.yaml");
  EXPECT_EQ(plan->wiring.find("retriever")->params.integer("top_k"), 7);
  const auto& decoder = plan->wiring.find("decoder")->params;
  EXPECT_EQ(decoder.integer("max_new_tokens"), 3);
  EXPECT_EQ(decoder.real("temperature"), 0.1);
  EXPECT_EQ(plan->wiring.model.integer("threads"), 2);
  EXPECT_EQ(plan->wiring.prompt.text("system"), "no");
}

TEST_F(experiment_file, gives_seed_repeat_warmup_and_name) {
  ASSERT_EQ(with("graph: g.yaml\nname: mine\nseed: 7\nrepeat: 3\nwarmup: 2\n"),
            "");
  const auto plan = load("e.yaml");
  EXPECT_EQ(plan->name, "mine");
  EXPECT_EQ(plan->seed, 7U);
  EXPECT_EQ(plan->repeat, 3);
  EXPECT_EQ(plan->warmup, 2);
  EXPECT_EQ(plan->graph_file, folder_ / "g.yaml");
  EXPECT_EQ(plan->experiment_file, folder_ / "e.yaml");
  ASSERT_EQ(with("graph: g.yaml\n"), "");
  EXPECT_EQ(load("e.yaml")->name, "small");
}

TEST_F(experiment_file, a_value_set_twice_is_an_error_with_both_places) {
  EXPECT_EQ(with("graph: g.yaml\nset:\n  retriever.top_k: 7\n"
                 "  retriever: {top_k: 8}\n"),
            "e.yaml:5:15: set: `retriever.top_k` is set twice, first at "
            "e.yaml:4:3; keep one of them\n");
}

TEST_F(experiment_file, unknown_targets_name_the_nearest) {
  EXPECT_EQ(with("graph: g.yaml\nset: {retreiver.top_k: 7}\n"),
            "e.yaml:3:7: set.retreiver.top_k: unknown actor or section "
            "`retreiver`; did you mean `retriever`? known: decoder, model, "
            "prefiller, prompt, questions, results, retriever\n");
  EXPECT_NE(
      with("graph: g.yaml\nset: {retriever.topk: 7}\n")
          .find("e.yaml:3:7: set.retriever.topk: unknown parameter `topk` "
                "of `retriever`; did you mean `top_k`?"),
      std::string::npos);
  EXPECT_NE(with("graph: g.yaml\nset: {top_k: 7}\n")
                .find("wanted `actor.param: value`"),
            std::string::npos);
  EXPECT_NE(with("graph: g.yaml\nsett: {}\n").find("did you mean `set`"),
            std::string::npos);
  EXPECT_NE(with("graph: g.yaml\nset: [a]\n").find("found a list"),
            std::string::npos);
}

TEST_F(experiment_file, sweeps_are_refused_with_a_sentence) {
  EXPECT_EQ(
      with("graph: g.yaml\nsweep: {product: {retriever.top_k: [1, 2]}}\n"),
      "e.yaml:3:1: sweep: this build runs single points only; remove "
      "`sweep` and set one value each under `set`\n");
}

TEST_F(experiment_file, the_graph_is_found_beside_the_experiment) {
  write("sub/e.yaml", "schema: kvloom/experiment/1\ngraph: ../g.yaml\n"
                      "set: {questions.path: other.json}\n");
  const auto plan = load("sub/e.yaml");
  ASSERT_TRUE(plan) << problems("sub/e.yaml");
  EXPECT_EQ(plan->graph_file, folder_ / "g.yaml");
  // A path is relative to the file that names it.
  EXPECT_EQ(plan->wiring.find("questions")->params.text("path"),
            (folder_ / "sub/other.json").string());
  EXPECT_EQ(plan->wiring.model.text("path"), (folder_ / "m.gguf").string());
}

TEST_F(experiment_file, a_graph_that_cannot_be_read_has_the_place_of_its_key) {
  EXPECT_EQ(with("graph: none.yaml\nseed: x\n"),
            "e.yaml:2:8: graph: none.yaml: no such file; check the name and "
            "the folder\n"
            "e.yaml:3:7: seed: found `x`, wanted an integer from 0 to "
            "9007199254740992\n");
  EXPECT_NE(with("seed: 1\n").find("the key `graph` is missing"),
            std::string::npos);
  EXPECT_NE(with("graph: [a]\n").find("wanted the path of a graph file"),
            std::string::npos);
  write("broken.yaml", "a: [\n");
  EXPECT_EQ(with("graph: broken.yaml\n").find("broken.yaml:"), 0U);
}

TEST_F(experiment_file, a_graph_that_is_an_experiment_is_refused) {
  write("other.yaml", "schema: kvloom/experiment/1\ngraph: g.yaml\n");
  EXPECT_NE(with("graph: other.yaml\n")
                .find("other.yaml:1:9: schema: found `kvloom/experiment/1`, "
                      "wanted kvloom/graph/1"),
            std::string::npos);
}

TEST_F(experiment_file, ranges_of_the_run_are_checked) {
  EXPECT_NE(with("graph: g.yaml\nrepeat: 0\n").find("e.yaml:3:9: repeat:"),
            std::string::npos);
  EXPECT_NE(with("graph: g.yaml\nseed: -1\n").find("out of range"),
            std::string::npos);
  EXPECT_NE(with("graph: g.yaml\nwarmup: 1e3\n").find("wanted an integer"),
            std::string::npos);
}

TEST_F(experiment_file, newer_versions_are_told_as_such) {
  write("e.yaml", "schema: kvloom/experiment/2\ngrph: g.yaml\n");
  EXPECT_EQ(problems("e.yaml"),
            "e.yaml:1:9: schema: found `kvloom/experiment/2`, wanted "
            "kvloom/experiment/1; the file is of a newer version than this "
            "build reads: update kvloom, or write the file for the older "
            "version\n");
}

} // namespace
} // namespace kvloom::graphs
