#include "configs/schema/quote.hpp"
#include "graphs/check/checks.hpp"

namespace kvloom::graphs {

void check_placement(const written_graph& graph,
                     configs::diagnostics& problems) {
  for (const written_actor& actor : graph.actors) {
    const auto refuse = [&](const char* key, const std::string& message) {
      const auto found = actor.placed.find(key);
      problems.push_back(
          {found == actor.placed.end() ? actor.name_place : found->second.place,
           "actors." + actor.name + ".place." + key, message});
    };
    const placement& place = actor.place;
    if (place.device != "cpu" && place.device != "auto")
      refuse("device", "found " + configs::shown(place.device)
                           + "; this build runs on the devices cpu and auto "
                             "(the CPU) only");
    if (!place.node.empty())
      refuse("node", "found the host " + configs::shown(place.node)
                         + "; this build runs all actors in one process: "
                           "remove `node`");
    if (place.replicas > 1)
      refuse("replicas", "found " + std::to_string(place.replicas)
                             + "; this build runs one copy of an actor: "
                               "remove `replicas` or set it to 1");
    if (place.threads != 0)
      refuse("threads",
             "found " + std::to_string(place.threads)
                 + "; the engine's threads are shared by all actors: "
                   "remove `threads` and set model.threads");
  }
}

} // namespace kvloom::graphs
