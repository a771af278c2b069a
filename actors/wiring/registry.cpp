#include "actors/wiring/registry.hpp"

#include "actors/nodes/decoder.hpp"
#include "actors/nodes/prefiller.hpp"
#include "actors/nodes/question_source.hpp"
#include "actors/nodes/recorder.hpp"
#include "actors/nodes/retriever.hpp"

#include <deque>
#include <set>
#include <utility>

namespace kvloom::actors {

const graphs::graph_node*
prepare_context::downstream(const std::string& from,
                            const std::string& kind) const {
  std::deque<std::string> next{from};
  std::set<std::string> seen{from};
  while (!next.empty()) {
    const auto here = std::move(next.front());
    next.pop_front();
    for (const auto& edge : plan.wiring.edges) {
      if (edge.from_node != here || !seen.insert(edge.to_node).second) continue;
      const auto* node = plan.wiring.find(edge.to_node);
      if (node != nullptr && node->kind == kind) return node;
      next.push_back(edge.to_node);
    }
  }
  return nullptr;
}

bool node_registry::add(node_type type) {
  auto name = type.kind.name;
  return types_.emplace(std::move(name), std::move(type)).second;
}

const node_type* node_registry::find(const std::string& kind) const {
  const auto found = types_.find(kind);
  return found == types_.end() ? nullptr : &found->second;
}

void register_builtin_nodes(node_registry& nodes) {
  nodes.add(question_source_type());
  nodes.add(retriever_type());
  nodes.add(prefiller_type());
  nodes.add(decoder_type());
  nodes.add(recorder_type());
}

graphs::kind_catalogue kinds_of(const node_registry& nodes) {
  graphs::kind_catalogue kinds;
  for (const auto& [name, type] : nodes.all()) kinds.add(type.kind);
  return kinds;
}

} // namespace kvloom::actors
