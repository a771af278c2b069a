#include "graphs/model/graph.hpp"

#include <algorithm>

namespace kvloom::graphs {

const graph_node* graph::find(const std::string& wanted) const {
  const auto found
      = std::find_if(nodes.begin(), nodes.end(), [&](const graph_node& node) {
          return node.name == wanted;
        });
  return found == nodes.end() ? nullptr : &*found;
}

} // namespace kvloom::graphs
