#include "graphs/check/graph_file.hpp"
#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class graph_file : public run_files {};

TEST_F(graph_file, schema_is_needed_and_known) {
  const std::string first = "schema: kvloom/graph/1\n";
  EXPECT_EQ(graph_problems(changed(sound_graph, first, "")),
            "g.yaml:1:1: the key `schema` is missing; begin the file with "
            "`schema: kvloom/graph/1`\n");
  EXPECT_EQ(
      graph_problems(changed(sound_graph, first, "schema: kvloom/graph/2\n")),
      "g.yaml:1:9: schema: found `kvloom/graph/2`, wanted "
      "kvloom/graph/1; the file is of a newer version than this build "
      "reads: update kvloom, or write the file for the older version\n");
  EXPECT_NE(
      graph_problems(changed(sound_graph, first, "schema: kvloom/graph/0\n"))
          .find("there is no such version"),
      std::string::npos);
  for (const char* other : {"schema: other/1\n", "schema: [a]\n", "schema:\n",
                            "schema: kvloom/graph/01\n", "schema: 1\n"})
    EXPECT_NE(graph_problems(changed(sound_graph, first, other)), "") << other;
}

TEST_F(graph_file, needs_a_mapping_with_actors_and_edges) {
  EXPECT_EQ(graph_problems("- a\n"),
            "g.yaml:1:1: found a list, wanted a mapping that begins with "
            "`schema`\n");
  const std::string out = graph_problems("schema: kvloom/graph/1\n");
  for (const char* key : {"`name`", "`actors`", "`edges`", "`path`"})
    EXPECT_NE(out.find(key), std::string::npos) << out;
  EXPECT_NE(graph_problems("schema: kvloom/graph/1\nname: a\nactors: []\n"
                           "edges: {}\n")
                .find("g.yaml:4:8: edges: found a mapping, wanted a list"),
            std::string::npos);
}

// Y03: a misspelt key names the nearest one; a missing value has its place.
TEST_F(graph_file, unknown_keys_name_the_nearest) {
  EXPECT_NE(graph_problems(changed(sound_graph, "model:", "mdoel:"))
                .find("g.yaml:3:1: unknown key `mdoel`; did you mean `model`?"),
            std::string::npos);
  EXPECT_EQ(graph_problems(changed(sound_graph, "model: {path: m.gguf}",
                                   "model:\n  path: m.gguf\n  threads:")),
            "g.yaml:5:3: model.threads: found nothing (null), wanted an "
            "integer from 0 to 1024 (threads); give a value or remove the "
            "key\n");
  EXPECT_NE(graph_problems(
                changed(sound_graph, "params: {top_k: 2}", "parms: {top_k: 2}"))
                .find("g.yaml:6:32: actors.retriever: unknown key `parms`; did "
                      "you mean `params`?"),
            std::string::npos);
  EXPECT_NE(
      graph_problems(changed(sound_graph, "credit: 8", "credits: 8"))
          .find("edges[0]: unknown key `credits`; did you mean `credit`?"),
      std::string::npos);
}

TEST_F(graph_file, names_follow_their_rules) {
  EXPECT_NE(graph_problems(changed(sound_graph, "name: small", "name: a/b"))
                .find("g.yaml:2:7: name: found the name `a/b`"),
            std::string::npos);
  EXPECT_NE(graph_problems(changed(sound_graph, "  decoder: {", "  Dec-1: {"))
                .find("g.yaml:8:3: actors: found the name `Dec-1`"),
            std::string::npos);
  EXPECT_NE(graph_problems(changed(sound_graph, "  decoder: {", "  model: {"))
                .find("is taken by the section"),
            std::string::npos);
}

TEST_F(graph_file, a_name_that_looks_like_something_else_is_a_text) {
  for (const char* name : {"no", "007", "1e3", "1_1_1", "on", "1.5"}) {
    write("g.yaml",
          changed(sound_graph, "name: small", std::string("name: ") + name));
    const auto plan = load("g.yaml");
    ASSERT_TRUE(plan) << name;
    EXPECT_EQ(plan->wiring.name, name);
  }
}

TEST_F(graph_file, absurd_numbers_of_actors_and_edges_are_refused) {
  std::string text = "schema: kvloom/graph/1\nname: a\nactors:\n";
  for (int i = 0; i < 2000; ++i)
    text += "  x" + std::to_string(i) + ": {type: wanderer}\n";
  text += "edges:\n";
  for (int i = 0; i < 10000; ++i) text += "  - {from: x1.out, to: x2.in}\n";
  const std::string out = graph_problems(text);
  EXPECT_NE(out.find("found 2000 actors, wanted at most 1024"),
            std::string::npos);
  EXPECT_NE(out.find("found 10000 edges, wanted at most 8192"),
            std::string::npos);
}

} // namespace
} // namespace kvloom::graphs
