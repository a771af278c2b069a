#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class edges : public run_files {};

TEST_F(edges, a_sound_graph_has_no_problem) {
  EXPECT_EQ(graph_problems(sound_graph), "");
}

TEST_F(edges, unknown_actor_names_the_nearest) {
  EXPECT_EQ(graph_problems(changed(sound_graph, "to: prefiller.request",
                                   "to: prefilller.request")),
            "g.yaml:12:37: edges[1].to: unknown actor `prefilller`; did you "
            "mean `prefiller`? known actors: questions, retriever, prefiller, "
            "decoder, results\n");
}

TEST_F(edges, unknown_port_names_the_nearest) {
  EXPECT_EQ(graph_problems(changed(sound_graph, "to: prefiller.request",
                                   "to: prefiller.requset")),
            "g.yaml:12:37: edges[1].to: prefiller has no input `requset`; did "
            "you mean `request`? inputs: request\n");
}

TEST_F(edges, an_output_is_no_input) {
  const std::string out = graph_problems(changed(
      sound_graph, "from: prefiller.prefilled", "from: prefiller.request"));
  EXPECT_EQ(out, "g.yaml:13:12: edges[2].from: prefiller has no output "
                 "`request`, but an input of that name; outputs: prefilled\n");
}

TEST_F(edges, payloads_must_be_equal) {
  const std::string out = graph_problems(changed(
      changed(sound_graph, "to: prefiller.request", "to: decoder.request"),
      "  - {from: prefiller.prefilled, to: decoder.request}\n", ""));
  EXPECT_NE(out.find("g.yaml:12:5: edges[1]: retriever.retrieved gives "
                     "Retrieved, but decoder.request takes Prefilled; inputs "
                     "that take Retrieved: prefiller.request\n"),
            std::string::npos)
      << out;
}

TEST_F(edges, a_missing_edge_is_written_out) {
  EXPECT_EQ(
      graph_problems(changed(
          sound_graph, "  - {from: decoder.answer, to: results.answer}\n", "")),
      "g.yaml:8:3: actors.decoder: the output `answer` (Answer) has no edge; "
      "add "
      "{from: decoder.answer, to: results.answer}\n"
      "g.yaml:9:3: actors.results: the input `answer` (Answer) has no edge; "
      "add "
      "{from: decoder.answer, to: results.answer}\n");
}

TEST_F(edges, the_same_edge_twice_is_one_too_many) {
  EXPECT_EQ(
      graph_problems(sound_graph
                     + "  - {from: decoder.answer, to: results.answer}\n"),
      "g.yaml:15:5: edges[4]: the same edge stands at g.yaml:14:5; keep one of "
      "them\n");
}

TEST_F(edges, a_port_that_takes_one_edge_has_one) {
  const std::string out = graph_problems(
      changed(sound_graph, "edges:\n", "  more: {type: recorder}\nedges:\n")
      + "  - {from: decoder.answer, to: more.answer}\n");
  EXPECT_EQ(out, "g.yaml:16:12: edges[4].from: the output decoder.answer takes "
                 "one edge and has one already, at g.yaml:15:5; remove one of "
                 "them\n");
}

TEST_F(edges, no_actor_is_joined_with_itself) {
  const std::string out = graph_problems(
      changed(sound_graph, "edges:\n", "  w: {type: wanderer}\nedges:\n")
      + "  - {from: w.out, to: w.in}\n");
  EXPECT_NE(out.find("g.yaml:16:5: edges[4]: joins the actor `w` with itself"),
            std::string::npos)
      << out;
}

TEST_F(edges, broken_ends_are_named_and_raise_no_false_alarm) {
  for (const char* end : {"prefiller", "prefiller.", ".request", "a.b.c", "[x]",
                          "{a: b}", "~", "\"\""}) {
    const std::string out = graph_problems(changed(
        sound_graph, "to: prefiller.request", std::string("to: ") + end));
    EXPECT_EQ(out.find("g.yaml:12:"), 0U) << end << ": " << out;
    EXPECT_NE(out.find("wanted actor.port such as"), std::string::npos) << out;
    EXPECT_EQ(out.find('\n'), out.size() - 1) << out;
  }
  EXPECT_EQ(graph_problems(changed(sound_graph, ", to: prefiller.request", "")),
            "g.yaml:12:5: edges[1]: the key `to` is missing, wanted "
            "actor.port\n");
}

TEST_F(edges, credit_is_a_number_in_range) {
  for (const char* credit : {"0", "-1", "65537", "many", "1.5", "\"8\""}) {
    const std::string out = graph_problems(
        changed(sound_graph, "credit: 8", std::string("credit: ") + credit));
    EXPECT_EQ(out.find("g.yaml:11:64: edges[0].credit: found"), 0U) << out;
  }
}

} // namespace
} // namespace kvloom::graphs
