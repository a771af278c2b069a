#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/checks.hpp"

#include <algorithm>

namespace kvloom::graphs {

void check_kinds(const written_graph& graph, const kind_catalogue& kinds,
                 configs::diagnostics& problems) {
  std::vector<std::string> known;
  for (const auto& [name, kind] : kinds.all()) known.push_back(name);
  for (const written_actor& actor : graph.actors) {
    if (actor.kind.empty() || kinds.find(actor.kind) != nullptr) continue;
    problems.push_back({actor.kind_place, "actors." + actor.name + ".type",
                        "unknown actor type " + configs::shown(actor.kind)
                            + configs::hint(actor.kind, "known types", known)});
  }
}

const written_actor* find_actor(const written_graph& graph,
                                const std::string& name) {
  const auto found = std::find_if(
      graph.actors.begin(), graph.actors.end(),
      [&](const written_actor& actor) { return actor.name == name; });
  return found == graph.actors.end() ? nullptr : &*found;
}

} // namespace kvloom::graphs
