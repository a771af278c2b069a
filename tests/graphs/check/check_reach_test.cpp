#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class reach : public run_files {};

TEST_F(reach, an_actor_that_nothing_feeds_is_named) {
  const std::string text
      = changed(sound_graph, "edges:\n", "  w: {type: wanderer}\nedges:\n");
  EXPECT_EQ(graph_problems(text),
            "g.yaml:10:3: actors.w: unreachable: no path of edges leads here "
            "from a source; wire it or remove it\n"
            "g.yaml:10:3: actors.w: no path of edges leads from here to a "
            "sink: what it gives is lost; wire it or remove it\n");
}

TEST_F(reach, an_actor_that_leads_nowhere_is_named) {
  // The wanderer is fed beside the prefiller: its output has no taker.
  std::string text
      = changed(sound_graph, "edges:\n",
                "  v: {type: wanderer}\n  w: {type: wanderer}\nedges:\n");
  text = changed(text, "{from: retriever.retrieved, to: prefiller.request}",
                 "{from: retriever.retrieved, to: v.in}");
  text += "  - {from: v.out, to: w.in}\n"
          "  - {from: v.out, to: prefiller.request}\n";
  EXPECT_EQ(graph_problems(text),
            "g.yaml:11:3: actors.w: no path of edges leads from here to a "
            "sink: what it gives is lost; wire it or remove it\n");
}

TEST_F(reach, source_and_sink_are_needed) {
  const std::string out = graph_problems(R"(schema: kvloom/graph/1
name: loose
model: {path: m.gguf}
actors:
  w: {type: wanderer}
edges: []
)");
  EXPECT_NE(out.find("g.yaml:1:1: actors: no source: nothing would start; add "
                     "an actor of a type among question_source\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("no sink: nothing would be kept; add an actor of a type "
                     "among recorder\n"),
            std::string::npos)
      << out;
}

TEST_F(reach, a_second_source_or_sink_is_named) {
  std::string text
      = changed(sound_graph, "edges:\n",
                "  more: {type: question_source, params: {path: d.json}}\n"
                "  kept: {type: recorder}\n"
                "  r: {type: retriever}\n"
                "  p: {type: prefiller}\n"
                "  d: {type: decoder}\n"
                "edges:\n"
                "  - {from: more.question, to: r.question}\n"
                "  - {from: r.retrieved, to: p.request}\n"
                "  - {from: p.prefilled, to: d.request}\n"
                "  - {from: d.answer, to: kept.answer}\n");
  const std::string out = graph_problems(text);
  EXPECT_NE(out.find("g.yaml:10:3: actors.more: a second source beside "),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("g.yaml:11:3: actors.kept: a second sink beside "),
            std::string::npos)
      << out;
}

} // namespace
} // namespace kvloom::graphs
