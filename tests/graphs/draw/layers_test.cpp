#include "graphs/draw/layers.hpp"

#include <gtest/gtest.h>

namespace kvloom::graphs {
namespace {

graph wired(int n_nodes, const std::vector<std::pair<int, int>>& edges) {
  graph out;
  for (int i = 0; i < n_nodes; ++i) {
    graph_node node;
    node.name = "n" + std::to_string(i);
    out.nodes.push_back(node);
  }
  for (const auto& [from, to] : edges) {
    graph_edge edge;
    edge.from_node = "n" + std::to_string(from);
    edge.to_node = "n" + std::to_string(to);
    out.edges.push_back(edge);
  }
  return out;
}

TEST(layers_of, longest_paths_decide) {
  const auto layers = layers_of(wired(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}}));
  EXPECT_EQ(layers.layer_of, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(layers.backward, (std::vector<bool>{false, false, false, false}));
}

TEST(layers_of, edges_that_close_cycles_run_back) {
  const auto layers = layers_of(wired(3, {{0, 1}, {1, 2}, {2, 1}}));
  EXPECT_EQ(layers.layer_of, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(layers.backward, (std::vector<bool>{false, false, true}));
  const auto self = layers_of(wired(1, {{0, 0}}));
  EXPECT_EQ(self.backward, std::vector<bool>{true});
}

TEST(layers_of, takes_empty_and_broken_graphs) {
  EXPECT_TRUE(layers_of({}).layers.empty());
  const auto layers = layers_of(wired(2, {{0, 7}, {0, 1}}));
  EXPECT_EQ(layers.from[0], graph_layers::none);
  EXPECT_EQ(layers.to[0], graph_layers::none);
  EXPECT_EQ(layers.layer_of[1], 1U);
}

TEST(layers_of, long_chains_need_no_stack) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i + 1 < 100000; ++i) edges.emplace_back(i, i + 1);
  EXPECT_EQ(layers_of(wired(100000, edges)).layers.size(), 100000U);
}

} // namespace
} // namespace kvloom::graphs
