#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class dot_picture : public run_files {};

TEST_F(dot_picture, names_nodes_and_edges) {
  write("g.yaml", sound_graph);
  const auto plan = load("g.yaml", {"questions.path=/d.json"});
  ASSERT_TRUE(plan);
  const std::string out = draw_dot(plan->wiring);
  EXPECT_EQ(out.find("digraph \"small\" {\n"), 0U);
  EXPECT_EQ(out.substr(out.size() - 2), "}\n");
  EXPECT_NE(out.find("  \"retriever\" [label=\"retriever : retriever\\ntop_k = "
                     "2\\l\"];\n"),
            std::string::npos)
      << out;
  EXPECT_NE(
      out.find("  \"questions\" -> \"retriever\" [taillabel=\"question\", "
               "headlabel=\"question\", label=\"credit 8\"];\n"),
      std::string::npos)
      << out;
}

TEST_F(dot_picture, texts_stay_inside_their_quotes) {
  graph wiring;
  wiring.name = "a\"b\\";
  graph_node node;
  node.name = "n";
  node.kind = "k";
  node.params.set("label", {std::string("\"]; x -> y [\n\\"),
                            {configs::origin_layer::graph, "g"},
                            configs::param_type::text});
  wiring.nodes.push_back(node);
  const std::string out = draw_dot(wiring);
  EXPECT_EQ(out.find("digraph \"a\\\"b\\\\\" {"), 0U);
  EXPECT_EQ(out.find("\n\\"), std::string::npos);
  // Behind every escape is taken out, quotes come in pairs.
  std::size_t n_quotes = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\\')
      ++i;
    else if (out[i] == '"')
      ++n_quotes;
  }
  EXPECT_EQ(n_quotes % 2, 0U);
}

} // namespace
} // namespace kvloom::graphs
