#include "graphs/draw/layers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace kvloom::graphs {

namespace {

enum class visit : std::uint8_t { fresh, open, done };

/// Marks the edges that close cycles, and gives the nodes in topological
/// order of the others.
class order_finder {
public:
  explicit order_finder(graph_layers& out)
      : out_(out), edges_(out.layer_of.size()),
        state_(out.layer_of.size(), visit::fresh) {
    for (std::size_t e = 0; e < out.from.size(); ++e)
      if (out.from[e] != graph_layers::none) edges_[out.from[e]].push_back(e);
  }

  std::vector<std::size_t> run() {
    for (std::size_t node = 0; node < edges_.size(); ++node)
      if (state_[node] == visit::fresh) walk(node);
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

private:
  void walk(std::size_t start) {
    std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};
    state_[start] = visit::open;
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == edges_[node].size()) {
        state_[node] = visit::done;
        order_.push_back(node);
        path.pop_back();
        continue;
      }
      const std::size_t edge = edges_[node][next++];
      const std::size_t to = out_.to[edge];
      if (state_[to] == visit::open) out_.backward[edge] = true;
      if (state_[to] != visit::fresh) continue;
      state_[to] = visit::open;
      path.emplace_back(to, 0);
    }
  }

  graph_layers& out_;
  std::vector<std::vector<std::size_t>> edges_;
  std::vector<visit> state_;
  std::vector<std::size_t> order_;
};

} // namespace

graph_layers layers_of(const graph& wiring) {
  graph_layers out;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < wiring.nodes.size(); ++i)
    index.emplace(wiring.nodes[i].name, i);
  out.layer_of.assign(wiring.nodes.size(), 0);
  for (const graph_edge& edge : wiring.edges) {
    const auto from = index.find(edge.from_node);
    const auto to = index.find(edge.to_node);
    const bool known = from != index.end() && to != index.end();
    out.from.push_back(known ? from->second : graph_layers::none);
    out.to.push_back(known ? to->second : graph_layers::none);
  }
  out.backward.assign(wiring.edges.size(), false);
  std::vector<std::vector<std::size_t>> leaving(wiring.nodes.size());
  const auto order = order_finder(out).run();
  for (std::size_t e = 0; e < out.from.size(); ++e)
    if (out.from[e] != graph_layers::none && !out.backward[e])
      leaving[out.from[e]].push_back(out.to[e]);
  std::size_t n_layers = wiring.nodes.empty() ? 0 : 1;
  for (const std::size_t node : order)
    for (const std::size_t to : leaving[node]) {
      out.layer_of[to] = std::max(out.layer_of[to], out.layer_of[node] + 1);
      n_layers = std::max(n_layers, out.layer_of[to] + 1);
    }
  out.layers.resize(n_layers);
  for (std::size_t i = 0; i < wiring.nodes.size(); ++i)
    out.layers[out.layer_of[i]].push_back(i);
  return out;
}

} // namespace kvloom::graphs
