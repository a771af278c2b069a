#include "graphs/check/checks.hpp"

#include <algorithm>
#include <map>

namespace kvloom::graphs {

namespace {

enum class visit { fresh, open, done };

/// Depth-first over the actors that may not lie on cycles, so every cycle
/// found is one too many. Without recursion: a file may chain thousands.
class cycle_check {
public:
  cycle_check(const written_graph& graph, const kind_catalogue& kinds,
              configs::diagnostics& problems)
      : graph_(graph), problems_(problems) {
    for (const written_edge& edge : graph.edges)
      if (!breaks(kinds, edge.from_node) && !breaks(kinds, edge.to_node))
        out_[edge.from_node].push_back(&edge);
  }

  void run() {
    for (const written_actor& actor : graph_.actors)
      if (state_[actor.name] == visit::fresh) walk(actor.name);
  }

private:
  struct frame {
    std::string node;
    std::size_t next = 0;
  };

  bool breaks(const kind_catalogue& kinds, const std::string& name) const {
    const written_actor* actor = find_actor(graph_, name);
    const actor_kind* kind
        = actor == nullptr ? nullptr : kinds.find(actor->kind);
    return kind == nullptr || kind->breaks_cycles;
  }

  void walk(const std::string& start) {
    std::vector<frame> path{{start}};
    state_[start] = visit::open;
    while (!path.empty()) {
      frame& top = path.back();
      const auto& edges = out_[top.node];
      if (top.next == edges.size()) {
        state_[top.node] = visit::done;
        path.pop_back();
        continue;
      }
      const written_edge& edge = *edges[top.next++];
      visit& to = state_[edge.to_node];
      if (to == visit::open) report(path, edge);
      if (to != visit::fresh) continue;
      to = visit::open;
      path.push_back({edge.to_node});
    }
  }

  void report(const std::vector<frame>& path, const written_edge& edge) {
    const auto from
        = std::find_if(path.begin(), path.end(), [&](const frame& one) {
            return one.node == edge.to_node;
          });
    std::string text;
    for (auto it = from; it != path.end(); ++it) text += it->node + " -> ";
    problems_.push_back({edge.where, edge.key_path,
                         "closes the cycle " + text + edge.to_node
                             + ", on which no actor may wait for its own "
                               "output; remove one of its edges"});
  }

  const written_graph& graph_;
  configs::diagnostics& problems_;
  std::map<std::string, std::vector<const written_edge*>> out_;
  std::map<std::string, visit> state_;
};

} // namespace

void check_cycles(const written_graph& graph, const kind_catalogue& kinds,
                  configs::diagnostics& problems) {
  cycle_check(graph, kinds, problems).run();
}

} // namespace kvloom::graphs
