// Layers of a graph, from sources to sinks.
#pragma once

#include "graphs/model/graph.hpp"

#include <cstddef>
#include <vector>

namespace kvloom::graphs {

/// Indices into graph::nodes and graph::edges.
struct graph_layers {
  /// Layer of each node: the longest path of forward edges that leads to it.
  std::vector<std::size_t> layer_of;
  /// Nodes of each layer, in the file's order.
  std::vector<std::vector<std::size_t>> layers;
  /// Ends of each edge; edges to unknown nodes have both at `none`.
  std::vector<std::size_t> from, to;
  /// Whether an edge runs against the layers (it closes a cycle).
  std::vector<bool> backward;

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

graph_layers layers_of(const graph& wiring);

} // namespace kvloom::graphs
