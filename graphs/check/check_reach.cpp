#include "graphs/check/checks.hpp"

#include <map>
#include <set>

namespace kvloom::graphs {

namespace {

using neighbours = std::map<std::string, std::vector<std::string>>;

std::set<std::string> reached(std::vector<std::string> open,
                              const neighbours& next) {
  std::set<std::string> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::string node = open.back();
    open.pop_back();
    const auto found = next.find(node);
    if (found == next.end()) continue;
    for (const std::string& other : found->second)
      if (seen.insert(other).second) open.push_back(other);
  }
  return seen;
}

std::string kinds_where(const kind_catalogue& kinds,
                        bool actor_kind::*property) {
  std::string out;
  for (const auto& [name, kind] : kinds.all())
    if (kind.*property) out += (out.empty() ? "" : ", ") + name;
  return out;
}

} // namespace

void check_reach(const written_graph& graph, const kind_catalogue& kinds,
                 configs::diagnostics& problems) {
  if (graph.actors.empty()) return;
  std::vector<std::string> sources, sinks, ends;
  const auto only_one = [&](std::vector<std::string>& found,
                            const written_actor& actor, const char* what) {
    found.push_back(actor.name);
    if (found.size() > 1)
      problems.push_back({actor.name_place, "actors." + actor.name,
                          "a second " + std::string(what) + " beside `"
                              + found.front()
                              + "`: a run has one; remove one of them"});
  };
  for (const written_actor& actor : graph.actors) {
    const actor_kind* kind = kinds.find(actor.kind);
    if (kind == nullptr) return;
    if (kind->source) only_one(sources, actor, "source");
    if (kind->sink || kind->outputs.empty()) ends.push_back(actor.name);
    if (kind->sink) only_one(sinks, actor, "sink");
  }
  if (sources.empty())
    problems.push_back({graph.where, "actors",
                        "no source: nothing would start; add an actor of a "
                        "type among "
                            + kinds_where(kinds, &actor_kind::source)});
  if (sinks.empty())
    problems.push_back({graph.where, "actors",
                        "no sink: nothing would be kept; add an actor of a "
                        "type among "
                            + kinds_where(kinds, &actor_kind::sink)});
  if (sources.empty() || sinks.empty()) return;
  neighbours forward, backward;
  for (const written_edge& edge : graph.edges) {
    forward[edge.from_node].push_back(edge.to_node);
    backward[edge.to_node].push_back(edge.from_node);
  }
  const auto fed = reached(sources, forward);
  const auto drained = reached(ends, backward);
  for (const written_actor& actor : graph.actors) {
    if (fed.count(actor.name) == 0)
      problems.push_back({actor.name_place, "actors." + actor.name,
                          "unreachable: no path of edges leads here from a "
                          "source; wire it or remove it"});
    if (drained.count(actor.name) == 0)
      problems.push_back({actor.name_place, "actors." + actor.name,
                          "no path of edges leads from here to a sink: what "
                          "it gives is lost; wire it or remove it"});
  }
}

} // namespace kvloom::graphs
