#include "graphs/check/load_run.hpp"
#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class load : public run_files {};

TEST_F(load, gives_the_graph_with_all_values) {
  write("g.yaml", sound_graph);
  const auto plan = run_files::load("g.yaml");
  ASSERT_TRUE(plan) << problems("g.yaml");
  const graph& wiring = plan->wiring;
  EXPECT_EQ(plan->name, "small");
  EXPECT_TRUE(plan->experiment_file.empty());
  EXPECT_EQ(plan->repeat, 1);
  EXPECT_EQ(plan->warmup, 0);
  EXPECT_EQ(plan->seed, 0U);
  ASSERT_EQ(wiring.nodes.size(), 5U);
  EXPECT_EQ(wiring.nodes[0].name, "questions");
  EXPECT_EQ(wiring.nodes[4].kind, "recorder");
  EXPECT_EQ(wiring.find("retriever")->params.integer("top_k"), 2);
  EXPECT_EQ(wiring.find("retriever")->params.text("index"), "bm25");
  EXPECT_FALSE(wiring.find("retriever")->params.has("weights"));
  EXPECT_EQ(wiring.find("questions")->params.text("path"),
            (folder_ / "data.json").string());
  EXPECT_EQ(wiring.find("nobody"), nullptr);
  ASSERT_EQ(wiring.edges.size(), 4U);
  EXPECT_EQ(wiring.edges[0].credit, 8);
  EXPECT_EQ(wiring.edges[1].credit, 4);
  EXPECT_EQ(wiring.edges[1].from_port, "retrieved");
  EXPECT_EQ(wiring.model.text("precision"), "bf16");
  EXPECT_TRUE(wiring.prompt.has("question_before"));
}

TEST_F(load, all_errors_of_a_file_come_at_once_in_order) {
  std::string text = changed(sound_graph, "top_k: 2", "top_k: -1");
  text = changed(text, "type: prefiller", "type: prefilter");
  text = changed(text, "max_new_tokens: 6", "max_new_tokens: many, x: 1");
  text = changed(text, "path: m.gguf", "precision: f16, threads: 1_0");
  text = changed(text, "  results:", "  decoder: {type: wanderer}\n  results:");
  text = changed(text, "credit: 8", "credit: 0");
  text = changed(text, "to: results.answer", "to: nobody.answer");
  write("g.yaml", text + "extra: 1\n");
  EXPECT_EQ(
      problems("g.yaml"),
      "g.yaml:3:8: model: the parameter `path` is missing, wanted a path: The "
      "model: a GGUF file or a Hugging Face folder.\n"
      "g.yaml:3:20: model.precision: found `f16`, wanted one of f32, bf16; did "
      "you mean `bf16`?\n"
      "g.yaml:3:34: model.threads: found `1_0`, wanted an integer from 0 to "
      "1024 "
      "(threads)\n"
      "g.yaml:6:48: actors.retriever.params.top_k: found `-1`, out of range: "
      "wanted an integer from 1 to 10000\n"
      "g.yaml:7:21: actors.prefiller.type: unknown actor type `prefilter`; did "
      "you mean `prefiller`? known types: decoder, prefiller, question_source, "
      "recorder, retriever, store, wanderer\n"
      "g.yaml:8:53: actors.decoder.params.max_new_tokens: found `many`, wanted "
      "an integer from 1 to 10000\n"
      "g.yaml:8:59: actors.decoder.params: unknown key `x`; known keys: "
      "max_new_tokens, temperature\n"
      "g.yaml:9:3: actors: duplicate key `decoder`, first given at g.yaml:8:3; "
      "keep one of them\n"
      "g.yaml:12:64: edges[0].credit: found `0`, out of range: wanted an "
      "integer "
      "from 1 to 65536 (messages)\n"
      "g.yaml:15:32: edges[3].to: unknown actor `nobody`; known actors: "
      "questions, retriever, prefiller, decoder, results\n"
      "g.yaml:16:1: unknown key `extra`; known keys: schema, name, "
      "description, "
      "actors, edges, model, prompt\n");
}

TEST_F(load, files_that_cannot_be_read_are_named) {
  EXPECT_EQ(problems("none.yaml"),
            "none.yaml: no such file; check the name and the folder\n");
  EXPECT_NE(problems("."), "");
  write("x.yaml", "actors: {a: [}\n");
  EXPECT_EQ(problems("x.yaml").find("x.yaml:1:"), 0U);
  write("x.yaml", "");
  EXPECT_EQ(problems("x.yaml"),
            "x.yaml: the file is empty, wanted a YAML mapping\n");
}

// Y06: the schema says what a value is.
TEST_F(load, text_parameters_keep_every_spelling) {
  for (const char* text : {"no", "NO", "yes", "on", "\"yes\"", "007", "1e3",
                           "1_1_1", "0x10", "12:30", "true", "1.50", "'~'"}) {
    write("g.yaml",
          changed(sound_graph, "top_k: 2", std::string("label: ") + text));
    const auto plan = run_files::load("g.yaml");
    ASSERT_TRUE(plan) << text;
    std::string wanted = text;
    if (wanted.front() == '"' || wanted.front() == '\'')
      wanted = wanted.substr(1, wanted.size() - 2);
    EXPECT_EQ(plan->wiring.find("retriever")->params.text("label"), wanted);
  }
}

TEST_F(load, aliases_of_whole_values_work) {
  std::string text
      = changed(sound_graph, "params: {top_k: 2}", "params: &few {top_k: 3}");
  text = changed(text, "  prefiller:",
                 "  second: {type: retriever, params: *few}\n  prefiller:");
  text = changed(text, "to: prefiller.request",
                 "to: prefiller.request}\n"
                 "  - {from: second.retrieved, "
                 "to: prefiller.request");
  write("g.yaml", text);
  EXPECT_EQ(problems("g.yaml"),
            "g.yaml:7:3: actors.second: the input `question` (Question) has no "
            "edge; add {from: questions.question, to: second.question}\n");
}

TEST_F(load, the_working_folder_does_not_matter) {
  write("sub/g.yaml", sound_graph);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto plan = load_run({"sub/g.yaml", {}, {}}, {});
  std::filesystem::current_path(before);
  ASSERT_FALSE(plan); // no kinds: every type is unknown
  for (const auto& one : plan.error()) {
    EXPECT_EQ(one.place.file, "sub/g.yaml");
    EXPECT_NE(one.message.find("unknown actor type"), std::string::npos);
  }
  EXPECT_EQ(plan.error().size(), 5U);
}

} // namespace
} // namespace kvloom::graphs
