// Precedence of the layers, and the origin of every value.
#include "graphs/check/parameters.hpp"
#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

using configs::origin_layer;

class precedence : public run_files {
protected:
  void SetUp() override {
    run_files::SetUp();
    write("g.yaml", sound_graph);
    write("e.yaml", "schema: kvloom/experiment/1\ngraph: g.yaml\n"
                    "set: {retriever.top_k: 5}\nseed: 3\n");
  }

  configs::resolved_value
  top_k(const std::string& file, std::vector<std::string> set = {},
        std::map<std::string, std::string> variables = {}) {
    const auto plan = load(file, std::move(set), std::move(variables));
    EXPECT_TRUE(plan);
    if (!plan) return {};
    return plan->wiring.find("retriever")->params.all().at("top_k");
  }
};

TEST_F(precedence, later_layers_win_and_say_so) {
  const auto number = [](const configs::resolved_value& value) {
    return std::get<std::int64_t>(value.value);
  };
  const std::map<std::string, std::string> variable{
      {"KVLOOM_RETRIEVER__TOP_K", "6"}};
  write("bare.yaml", changed(sound_graph, "{top_k: 2}", "{}"));

  auto value = top_k("bare.yaml");
  EXPECT_EQ(number(value), 4);
  EXPECT_EQ(value.origin.layer, origin_layer::registered_default);
  EXPECT_EQ(value.origin.place, "");

  value = top_k("g.yaml");
  EXPECT_EQ(number(value), 2);
  EXPECT_EQ(value.origin.layer, origin_layer::graph);
  EXPECT_EQ(value.origin.place, (folder_ / "g.yaml").string() + ":6:48");

  value = top_k("e.yaml");
  EXPECT_EQ(number(value), 5);
  EXPECT_EQ(value.origin.layer, origin_layer::experiment);
  EXPECT_EQ(value.origin.place, (folder_ / "e.yaml").string() + ":3:24");

  value = top_k("e.yaml", {}, variable);
  EXPECT_EQ(number(value), 6);
  EXPECT_EQ(value.origin.layer, origin_layer::environment);
  EXPECT_EQ(value.origin.place, "KVLOOM_RETRIEVER__TOP_K");

  value = top_k("e.yaml", {"retriever.top_k=7"}, variable);
  EXPECT_EQ(number(value), 7);
  EXPECT_EQ(value.origin.layer, origin_layer::command_line);
  EXPECT_EQ(value.origin.place, "--set retriever.top_k=7");

  EXPECT_EQ(number(top_k("g.yaml", {"retriever.top_k=7", "retriever.top_k=8"})),
            8);
}

TEST_F(precedence, holds_for_sections_and_the_run_too) {
  const auto plan
      = load("e.yaml", {"seed=9", "model.threads=2", "prompt.system="},
             {{"KVLOOM_SEED", "8"},
              {"KVLOOM_REPEAT", "2"},
              {"KVLOOM_MODEL__THREADS", "1"}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->seed, 9U);
  EXPECT_EQ(plan->repeat, 2);
  EXPECT_EQ(plan->wiring.model.integer("threads"), 2);
  EXPECT_EQ(plan->wiring.prompt.text("system"), "");
}

TEST_F(precedence, a_wrong_value_is_not_hidden_by_a_later_layer) {
  write("g.yaml", changed(sound_graph, "top_k: 2", "top_k: 0"));
  EXPECT_NE(problems("g.yaml", {"retriever.top_k=3"}).find("g.yaml:6:48"),
            std::string::npos);
}

TEST_F(precedence, a_value_may_come_from_any_layer) {
  write("g.yaml",
        changed(sound_graph, "params: {path: data.json}", "params: {}"));
  EXPECT_EQ(problems("g.yaml"),
            "g.yaml:5:3: actors.questions.params: the parameter `path` is "
            "missing, wanted a path: A parameter.\n");
  EXPECT_EQ(problems("g.yaml", {"questions.path=x.json"}), "");
  EXPECT_EQ(problems("g.yaml", {}, {{"KVLOOM_QUESTIONS__PATH", "x.json"}}), "");
}

TEST_F(precedence, paths_of_options_are_of_the_working_folder) {
  const auto plan = load("g.yaml", {"questions.path=x/../y.json"},
                         {{"KVLOOM_MODEL__PATH", "/abs/m.gguf"}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->wiring.find("questions")->params.text("path"),
            (std::filesystem::current_path() / "y.json").string());
  EXPECT_EQ(plan->wiring.model.text("path"), "/abs/m.gguf");
}

TEST_F(precedence, options_are_checked_like_files) {
  EXPECT_EQ(problems("g.yaml", {"retriever.topk=3"}),
            "--set retriever.topk=3, column 1: retriever.topk: unknown "
            "parameter `topk` of `retriever`; did you mean `top_k`? known "
            "parameters: index, scope, top_k, order, label, weights, words\n");
  EXPECT_EQ(problems("g.yaml", {"retriever.top_k=x"}),
            "--set retriever.top_k=x, column 17: retriever.top_k: found `x`, "
            "wanted an integer from 1 to 10000\n");
  EXPECT_EQ(problems("g.yaml", {"retriever.weights=[0,-1]"}),
            "--set retriever.weights=[0,-1], column 22: retriever.weights: "
            "found `-1`, out of range: wanted a number of at least 0\n");
  EXPECT_NE(problems("g.yaml", {"nobody.x=1"}).find("unknown actor or section"),
            std::string::npos);
  EXPECT_NE(problems("g.yaml", {"sed=1"}).find("did you mean `seed`"),
            std::string::npos);
  EXPECT_NE(problems("g.yaml", {"retriever"}).find("wanted path=value"),
            std::string::npos);
  EXPECT_NE(problems("g.yaml", {"questions.path=a\xff"}).find("UTF-8"),
            std::string::npos);
}

TEST_F(precedence, variables_are_checked_like_files) {
  EXPECT_EQ(problems("g.yaml", {}, {{"KVLOOM_RETRIEVER__TOP_K", "none"}}),
            "KVLOOM_RETRIEVER__TOP_K, column 1: retriever.top_k: found `none`, "
            "wanted an integer from 1 to 10000\n");
  EXPECT_NE(problems("g.yaml", {}, {{"KVLOOM_RETRIEVER__TOPK", "1"}})
                .find("did you mean `KVLOOM_RETRIEVER__TOP_K`"),
            std::string::npos);
}

TEST_F(precedence, files_options_and_variables_report_together) {
  write("g.yaml", changed(sound_graph, "top_k: 2", "top_k: 0"));
  write("e.yaml", "schema: kvloom/experiment/1\ngraph: g.yaml\nseed: x\n");
  const std::string out = problems("e.yaml", {"decoder.temperature=hot"},
                                   {{"KVLOOM_DECODER__TEMPERATUR", "1"}});
  EXPECT_EQ(out.find("e.yaml:3:7"), 0U) << out;
  EXPECT_LT(out.find("g.yaml:6:48"), out.find("KVLOOM_DECODER__TEMPERATUR,"));
  EXPECT_NE(out.find("column 21"), std::string::npos) << out;
}

// Y08: what the shell leaves of quotes changes no type.
TEST_F(precedence, a_text_from_the_command_line_is_a_text) {
  for (const char* given : {"0", "\"0\""}) {
    const auto plan = load("g.yaml", {std::string("retriever.label=") + given});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->wiring.find("retriever")->params.text("label"), "0");
  }
}

// Y09: commas and colons in values.
TEST_F(precedence, lists_from_the_command_line) {
  const auto plan = load("g.yaml", {"retriever.words=[mlx5_0:1,\"a,b\"]",
                                    "retriever.label=mlx5_0:1,mlx5_3:1"});
  ASSERT_TRUE(plan);
  const auto& params = plan->wiring.find("retriever")->params;
  EXPECT_EQ(params.texts("words"),
            (std::vector<std::string>{"mlx5_0:1", "a,b"}));
  EXPECT_EQ(params.text("label"), "mlx5_0:1,mlx5_3:1");
  EXPECT_NE(problems("g.yaml", {"retriever.words=a,b"}).find("column 17"),
            std::string::npos);
}

} // namespace
} // namespace kvloom::graphs
