#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class kinds : public run_files {};

TEST_F(kinds, an_unknown_type_names_the_nearest) {
  EXPECT_EQ(graph_problems(
                changed(sound_graph, "type: prefiller", "type: prefilter")),
            "g.yaml:7:21: actors.prefiller.type: unknown actor type "
            "`prefilter`; did you mean `prefiller`? known types: decoder, "
            "prefiller, question_source, recorder, retriever, store, "
            "wanderer\n");
}

TEST_F(kinds, edges_of_an_unknown_type_raise_no_false_alarm) {
  const std::string out
      = graph_problems(changed(sound_graph, "type: recorder", "type: xyz"));
  EXPECT_EQ(out.find('\n'), out.size() - 1) << out;
}

TEST_F(kinds, the_type_must_be_given) {
  EXPECT_EQ(graph_problems(changed(sound_graph, "{type: recorder}", "{}")),
            "g.yaml:9:3: actors.results: the key `type` is missing; `kvloom "
            "actors` lists the types\n");
}

} // namespace
} // namespace kvloom::graphs
