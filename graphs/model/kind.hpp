// Kinds of actors: what may be wired to what, and with which parameters.
#pragma once

#include "configs/schema/param.hpp"

#include <map>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// A port of a kind. Ports connect when their payload names are equal.
struct port_spec {
  std::string name;
  std::string payload;  ///< message type: "Question", "Retrieved", ...
  bool required = true; ///< must have at least one edge
  bool many = false;    ///< may have more than one edge
  std::string help;
};

/// A kind of actor, as YAML's `type` names it.
struct actor_kind {
  std::string name;
  std::string help; ///< one sentence
  std::vector<port_spec> inputs;
  std::vector<port_spec> outputs;
  std::vector<configs::param_spec> params;
  bool source = false; ///< needs no input; runs start here
  bool sink = false;   ///< runs end here
  /// True where the kind may lie on a cycle (a store that answers hints).
  bool breaks_cycles = false;
};

/// All kinds that a process knows, by name. Filled once at start, then
/// read-only; no global instance.
class kind_catalogue {
public:
  /// False (and nothing added) if the name is taken.
  bool add(actor_kind kind);
  const actor_kind* find(const std::string& name) const;
  const std::map<std::string, actor_kind>& all() const { return kinds_; }

private:
  std::map<std::string, actor_kind> kinds_;
};

} // namespace kvloom::graphs
