#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

class svg_picture : public run_files {};

TEST_F(svg_picture, has_a_box_an_actor_and_a_curve_an_edge) {
  write("g.yaml", sound_graph);
  const auto plan = load("g.yaml");
  ASSERT_TRUE(plan);
  const std::string out = draw_svg(plan->wiring);
  EXPECT_EQ(out.find("<svg xmlns=\"http://www.w3.org/2000/svg\""), 0U);
  EXPECT_EQ(count(out, "<rect class=\"box\""), 5U);
  EXPECT_EQ(count(out, "<path class=\"edge\""), 4U);
  EXPECT_EQ(count(out, ">credit 8<"), 1U);
  EXPECT_EQ(count(out, ">credit 4<"), 3U);
  EXPECT_EQ(count(out, ">top_k = 2<"), 1U);
  EXPECT_EQ(count(out, "<g>"), count(out, "</g>"));
  EXPECT_EQ(out.find("nan"), std::string::npos);
}

TEST_F(svg_picture, is_the_same_every_time) {
  write("g.yaml", sound_graph);
  EXPECT_EQ(draw_svg(load("g.yaml")->wiring), draw_svg(load("g.yaml")->wiring));
}

TEST_F(svg_picture, draws_cycles_long_edges_and_nothing) {
  graph wiring;
  EXPECT_NE(draw_svg(wiring).find("</svg>"), std::string::npos);
  for (const char* name : {"a", "b", "c", "<&>"}) {
    graph_node node;
    node.name = name;
    node.kind = "k";
    wiring.nodes.push_back(node);
  }
  const auto join = [&](const char* from, const char* to) {
    graph_edge edge;
    edge.from_node = from;
    edge.from_port = "out";
    edge.to_node = to;
    edge.to_port = "in";
    wiring.edges.push_back(edge);
  };
  join("a", "b");
  join("b", "c");
  join("a", "c");
  join("c", "a");
  join("a", "a");
  const std::string out = draw_svg(wiring);
  EXPECT_EQ(count(out, "<path class=\"edge\""), 5U);
  EXPECT_NE(out.find("&lt;&amp;&gt;"), std::string::npos);
}

} // namespace
} // namespace kvloom::graphs
