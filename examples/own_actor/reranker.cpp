// An actor of one's own: orders the passages that a retriever chose so that
// the best ones lie at both ends of the context and the worst in the middle,
// where models read least (Liu et al. 2024, "Lost in the Middle").
//
// In a graph, between retriever and prefiller:
//   reranker: {type: edge_reranker, params: {keep: 3}}
// To have it in the command, add this file to cli/CMakeLists.txt and
// `nodes.add(edge_reranker_type());` after register_builtin_nodes().
#include "examples/own_actor/reranker.hpp"

#include <algorithm>

namespace examples {

using kvloom::actors::retrieved;

retrieved to_the_edges(const retrieved& chosen, std::size_t keep) {
  retrieved out = chosen; // handles and numbers only: cheap
  const auto n = std::min(keep, chosen.passages.size());
  out.passages.resize(n);
  out.ranking.resize(std::min(n, out.ranking.size()));
  for (std::size_t rank = 0, front = 0, back = n; rank < n; ++rank) {
    const auto place = rank % 2 == 0 ? front++ : --back;
    out.passages[place] = chosen.passages[rank];
  }
  return out;
}

kvloom::actors::node_type edge_reranker_type() {
  using namespace kvloom::actors;
  kvloom::graphs::actor_kind kind;
  kind.name = "edge_reranker";
  kind.help = "Puts the best passages at both ends of the context.";
  kind.inputs = {input_of<retrieved>("passages", "Passages, best first.")};
  kind.outputs = {port_of<retrieved>("reordered", "The best at the ends.")};
  kind.params = {integer_param("keep", "Passages to keep, best first.", 10000,
                               1, 10000, "passages")};
  return stage_type<retrieved, retrieved>(
      kind,
      [](const kvloom::graphs::graph_node& node, prepare_context&)
          -> kvloom::result<stage_function<retrieved, retrieved>> {
        const auto keep = static_cast<std::size_t>(node.params.integer("keep"));
        return [keep](const retrieved& chosen) -> kvloom::result<retrieved> {
          return to_the_edges(chosen, keep);
        };
      });
}

} // namespace examples
