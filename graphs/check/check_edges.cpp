#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kvloom::graphs {

namespace {

using configs::diagnostics;
using configs::shown;

enum class side { input, output };

const std::vector<port_spec>& ports(const actor_kind& kind, side which) {
  return which == side::input ? kind.inputs : kind.outputs;
}

const char* noun(side which) {
  return which == side::input ? "input" : "output";
}

const port_spec* find_port(const std::vector<port_spec>& all,
                           const std::string& name) {
  const auto found
      = std::find_if(all.begin(), all.end(),
                     [&](const port_spec& port) { return port.name == name; });
  return found == all.end() ? nullptr : &*found;
}

class edge_check {
public:
  edge_check(const written_graph& graph, const kind_catalogue& kinds,
             diagnostics& problems)
      : graph_(graph), kinds_(kinds), problems_(problems) {}

  void run() {
    for (const written_edge& edge : graph_.edges) check_one(edge);
    for (const written_actor& actor : graph_.actors) {
      const actor_kind* kind = kinds_.find(actor.kind);
      if (kind == nullptr) continue;
      check_missing(actor, *kind, side::input);
      check_missing(actor, *kind, side::output);
    }
  }

private:
  using end = std::pair<std::string, std::string>; ///< actor, port

  void check_one(const written_edge& edge) {
    if (!edge.whole) {
      doubtful_ = true;
      return;
    }
    const port_spec* from
        = port_of(edge.from_node, edge.from_port, side::output, edge.from_place,
                  edge.key_path + ".from");
    const port_spec* to = port_of(edge.to_node, edge.to_port, side::input,
                                  edge.to_place, edge.key_path + ".to");
    if (edge.from_node == edge.to_node) {
      problems_.push_back({edge.where, edge.key_path,
                           "joins the actor " + shown(edge.from_node)
                               + " with itself; an edge joins two actors"});
      return;
    }
    if (is_duplicate(edge)) return;
    if (to != nullptr) count_use(edge, side::input, *to);
    if (from != nullptr) count_use(edge, side::output, *from);
    if (from != nullptr && to != nullptr && from->payload != to->payload)
      problems_.push_back({edge.where, edge.key_path,
                           edge.from_node + '.' + edge.from_port + " gives "
                               + from->payload + ", but " + edge.to_node + '.'
                               + edge.to_port + " takes " + to->payload
                               + candidates(side::input, from->payload, edge)});
  }

  /// `; inputs that take Retrieved: ...`, or nothing.
  std::string candidates(side which, const std::string& payload,
                         const written_edge& edge) const {
    std::string out;
    for (const std::string& name : ports_with(which, payload))
      if (name.substr(0, name.find('.')) != edge.from_node)
        out += (out.empty() ? "" : ", ") + name;
    if (out.empty()) return {};
    return "; " + std::string(noun(which)) + "s that take " + payload + ": "
           + out;
  }

  std::vector<std::string> ports_with(side which,
                                      const std::string& payload) const {
    std::vector<std::string> out;
    for (const written_actor& actor : graph_.actors) {
      const actor_kind* kind = kinds_.find(actor.kind);
      if (kind == nullptr) continue;
      for (const port_spec& port : ports(*kind, which))
        if (port.payload == payload)
          out.push_back(actor.name + '.' + port.name);
    }
    return out;
  }

  const port_spec* port_of(const std::string& node, const std::string& port,
                           side which, const configs::source_place& place,
                           const std::string& key_path) {
    const written_actor* actor = find_actor(graph_, node);
    if (actor == nullptr) {
      doubtful_ = true;
      std::vector<std::string> known;
      for (const written_actor& one : graph_.actors) known.push_back(one.name);
      problems_.push_back({place, key_path,
                           "unknown actor " + shown(node)
                               + configs::hint(node, "known actors", known)});
      return nullptr;
    }
    const actor_kind* kind = kinds_.find(actor->kind);
    if (kind == nullptr) return nullptr;
    const port_spec* found = find_port(ports(*kind, which), port);
    if (found != nullptr) return found;
    doubtful_nodes_.insert(node);
    const side other = which == side::input ? side::output : side::input;
    std::vector<std::string> known;
    for (const port_spec& one : ports(*kind, which)) known.push_back(one.name);
    std::string message
        = kind->name + " has no " + noun(which) + ' ' + shown(port);
    if (find_port(ports(*kind, other), port) != nullptr)
      message += std::string(", but an ") + noun(other) + " of that name";
    message += configs::hint(port, std::string(noun(which)) + "s", known);
    problems_.push_back({place, key_path, message});
    return nullptr;
  }

  bool is_duplicate(const written_edge& edge) {
    const auto key = std::make_pair(end{edge.from_node, edge.from_port},
                                    end{edge.to_node, edge.to_port});
    const auto [first, fresh] = edges_.emplace(key, &edge);
    if (fresh) return false;
    problems_.push_back({edge.where, edge.key_path,
                         "the same edge stands at "
                             + to_string(first->second->where)
                             + "; keep one of them"});
    return true;
  }

  void count_use(const written_edge& edge, side which, const port_spec& port) {
    const bool in = which == side::input;
    const std::string& node = in ? edge.to_node : edge.from_node;
    auto& uses = in ? input_uses_ : output_uses_;
    const auto [first, fresh] = uses.emplace(end{node, port.name}, &edge);
    if (fresh || port.many) return;
    const configs::source_place& place = in ? edge.to_place : edge.from_place;
    problems_.push_back(
        {place, edge.key_path + (in ? ".to" : ".from"),
         std::string("the ") + noun(which) + ' ' + node + '.' + port.name
             + " takes one edge and has one already, at "
             + to_string(first->second->where) + "; remove one of them"});
  }

  void check_missing(const written_actor& actor, const actor_kind& kind,
                     side which) {
    // An end that could not be read may have been meant for this port.
    if (doubtful_ || doubtful_nodes_.count(actor.name) != 0) return;
    const auto& uses = which == side::input ? input_uses_ : output_uses_;
    for (const port_spec& port : ports(kind, which)) {
      if (!port.required || uses.count({actor.name, port.name}) != 0) continue;
      const bool in = which == side::input;
      std::string other = "actor.port";
      for (const std::string& name :
           ports_with(in ? side::output : side::input, port.payload))
        if (name.substr(0, name.find('.')) != actor.name) {
          other = name;
          break;
        }
      const std::string here = actor.name + '.' + port.name;
      problems_.push_back(
          {actor.name_place, "actors." + actor.name,
           std::string("the ") + noun(which) + ' ' + shown(port.name) + " ("
               + port.payload + ") has no edge; add {from: "
               + (in ? other : here) + ", to: " + (in ? here : other) + "}"});
    }
  }

  const written_graph& graph_;
  const kind_catalogue& kinds_;
  diagnostics& problems_;
  std::map<std::pair<end, end>, const written_edge*> edges_;
  std::map<end, const written_edge*> input_uses_;
  std::map<end, const written_edge*> output_uses_;
  std::set<std::string> doubtful_nodes_;
  bool doubtful_ = false;
};

} // namespace

void check_edges(const written_graph& graph, const kind_catalogue& kinds,
                 diagnostics& problems) {
  edge_check(graph, kinds, problems).run();
}

} // namespace kvloom::graphs
