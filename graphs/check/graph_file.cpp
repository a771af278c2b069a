#include "graphs/check/graph_file.hpp"

#include "configs/read/value.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/check_names.hpp"
#include "graphs/check/load_run.hpp"

#include <charconv>

namespace kvloom::graphs {

namespace {

using configs::diagnostics;
using configs::yaml_entry;
using configs::yaml_kind;
using configs::yaml_node;

/// Far above any graph of one process; the checks look things up one by one.
constexpr std::size_t most_actors = 1024;
constexpr std::size_t most_edges = 8192;

std::string too_many(std::size_t found, const char* noun, std::size_t most) {
  return "found " + std::to_string(found) + ' ' + noun + ", wanted at most "
         + std::to_string(most) + "; split the graph";
}

/// The version behind the last slash, or -1.
int version_of(const std::string& schema) {
  const std::size_t slash = schema.rfind('/');
  if (slash == std::string::npos) return -1;
  int version = -1;
  const char* begin = schema.data() + slash + 1;
  const char* end = schema.data() + schema.size();
  const auto [stop, code] = std::from_chars(begin, end, version);
  return code == std::errc() && stop == end ? version : -1;
}

std::string family_of(const std::string& schema) {
  return schema.substr(0, schema.rfind('/'));
}

placement
to_placement(const std::map<std::string, configs::placed_value>& given) {
  placement place;
  const auto text = [&](const char* key, std::string& out) {
    const auto found = given.find(key);
    if (found != given.end()) out = std::get<std::string>(found->second.value);
  };
  const auto integer = [&](const char* key, std::int64_t& out) {
    const auto found = given.find(key);
    if (found != given.end()) out = std::get<std::int64_t>(found->second.value);
  };
  text("device", place.device);
  text("node", place.node);
  integer("replicas", place.replicas);
  integer("threads", place.threads);
  return place;
}

written_actor read_actor(const yaml_entry& entry, diagnostics& problems) {
  written_actor actor;
  actor.name = entry.key;
  actor.name_place = entry.key_place;
  const std::string path = "actors." + entry.key;
  const std::string bad_name = node_name_problem(entry.key);
  if (!bad_name.empty())
    problems.push_back({entry.key_place, "actors", bad_name});
  if (!configs::expect_mapping(*entry.value, path,
                               "a mapping such as {type: retriever}", problems))
    return actor;
  configs::refuse_unknown_keys(*entry.value, path, {"type", "params", "place"},
                               problems);
  if (const yaml_entry* type = entry.value->find("type")) {
    actor.kind_place = type->value->place;
    actor.kind = read_text_key(*entry.value, "type", path, true, problems)
                     .value_or("");
  } else {
    problems.push_back({entry.key_place, path,
                        "the key `type` is missing; `kvloom actors` lists "
                        "the types"});
  }
  if (const yaml_entry* params = entry.value->find("params"))
    if (configs::expect_mapping(*params->value, path + ".params",
                                "a mapping of parameters", problems))
      actor.params = params->value;
  if (const yaml_entry* place = entry.value->find("place")) {
    actor.placed = configs::read_params(*place->value, place_params(),
                                        path + ".place", problems);
    actor.place = to_placement(actor.placed);
  }
  return actor;
}

/// Reads one end of an edge, `actor.port`.
bool read_end(const yaml_node& edge, const std::string& key,
              const std::string& key_path, std::string& node, std::string& port,
              configs::source_place& place, diagnostics& problems) {
  const yaml_entry* entry = edge.find(key);
  if (entry == nullptr) {
    problems.push_back({edge.place, key_path,
                        "the key `" + key + "` is missing, wanted actor.port"});
    return false;
  }
  place = entry->value->place;
  const std::string& text = entry->value->text;
  const std::size_t dot = text.find('.');
  const bool good = entry->value->kind == yaml_kind::scalar
                    && dot != std::string::npos && dot > 0
                    && dot + 1 < text.size()
                    && text.find('.', dot + 1) == std::string::npos;
  if (!good) {
    problems.push_back({place, key_path + '.' + key,
                        "found " + describe(*entry->value)
                            + ", wanted actor.port such as "
                              "retriever.question"});
    return false;
  }
  node = text.substr(0, dot);
  port = text.substr(dot + 1);
  return true;
}

written_edge read_edge(const yaml_node& node, std::size_t index,
                       diagnostics& problems) {
  written_edge edge;
  edge.key_path = "edges[" + std::to_string(index) + "]";
  edge.where = node.place;
  if (!configs::expect_mapping(node, edge.key_path,
                               "a mapping such as {from: a.port, to: b.port}",
                               problems))
    return edge;
  configs::refuse_unknown_keys(node, edge.key_path, {"from", "to", "credit"},
                               problems);
  const bool from = read_end(node, "from", edge.key_path, edge.from_node,
                             edge.from_port, edge.from_place, problems);
  const bool to = read_end(node, "to", edge.key_path, edge.to_node,
                           edge.to_port, edge.to_place, problems);
  edge.whole = from && to;
  if (const yaml_entry* credit = node.find("credit")) {
    const auto value
        = configs::read_value(edge_params().front(), *credit->value,
                              edge.key_path + ".credit", problems);
    if (value) edge.credit = {*value, credit->value->place};
  }
  return edge;
}

void read_actors(const yaml_node& root, written_graph& out,
                 diagnostics& problems) {
  const yaml_entry* actors = root.find("actors");
  if (actors == nullptr) {
    problems.push_back({root.place,
                        {},
                        "the key `actors` is missing, wanted a mapping of "
                        "names to actors"});
    return;
  }
  if (!configs::expect_mapping(*actors->value, "actors",
                               "a mapping of names to actors", problems))
    return;
  const std::size_t n_actors = actors->value->entries.size();
  if (n_actors > most_actors) {
    problems.push_back({actors->value->place, "actors",
                        too_many(n_actors, "actors", most_actors)});
    return;
  }
  for (const yaml_entry& entry : actors->value->entries)
    out.actors.push_back(read_actor(entry, problems));
  if (out.actors.empty())
    problems.push_back({actors->value->place, "actors",
                        "no actors, wanted at least a source and a sink"});
}

void read_edges(const yaml_node& root, written_graph& out,
                diagnostics& problems) {
  const yaml_entry* edges = root.find("edges");
  if (edges == nullptr) {
    problems.push_back(
        {root.place, {}, "the key `edges` is missing, wanted a list of edges"});
    return;
  }
  if (edges->value->kind != yaml_kind::sequence) {
    problems.push_back(
        {edges->value->place, "edges",
         "found " + describe(*edges->value) + ", wanted a list of edges"});
    return;
  }
  const std::size_t n_edges = edges->value->items.size();
  if (n_edges > most_edges) {
    problems.push_back(
        {edges->value->place, "edges", too_many(n_edges, "edges", most_edges)});
    return;
  }
  for (std::size_t i = 0; i < n_edges; ++i)
    out.edges.push_back(read_edge(*edges->value->items[i], i, problems));
}

} // namespace

bool check_schema(const yaml_node& root, const std::string& wanted,
                  diagnostics& problems) {
  const yaml_entry* entry = root.find("schema");
  if (entry == nullptr) {
    problems.push_back({root.place,
                        {},
                        "the key `schema` is missing; begin the file with "
                        "`schema: "
                            + wanted + "`"});
    return false;
  }
  const std::string& found = entry->value->text;
  if (entry->value->kind == yaml_kind::scalar && found == wanted) return true;
  std::string message
      = "found " + describe(*entry->value) + ", wanted " + wanted;
  if (entry->value->kind == yaml_kind::scalar
      && family_of(found) == family_of(wanted)) {
    if (version_of(found) > version_of(wanted))
      message += "; the file is of a newer version than this build reads: "
                 "update kvloom, or write the file for the older version";
    else
      message += "; there is no such version";
  } else {
    message += std::string("; graphs are ") + graph_schema + ", experiments "
               + experiment_schema;
  }
  problems.push_back({entry->value->place, "schema", message});
  return false;
}

std::optional<std::string> read_text_key(const yaml_node& node,
                                         const std::string& key,
                                         const std::string& key_path,
                                         bool needed, diagnostics& problems) {
  const yaml_entry* entry = node.find(key);
  if (entry == nullptr) {
    if (needed)
      problems.push_back({node.place, key_path,
                          "the key `" + key + "` is missing, wanted a text"});
    return std::nullopt;
  }
  configs::param_spec spec;
  spec.name = key;
  const auto value = configs::read_value(
      spec, *entry->value, configs::join_path(key_path, key), problems);
  if (!value) return std::nullopt;
  return std::get<std::string>(*value);
}

written_graph read_graph(const yaml_node& root, diagnostics& problems) {
  written_graph out;
  out.where = root.place;
  configs::refuse_unknown_keys(
      root, {},
      {"schema", "name", "description", "actors", "edges", "model", "prompt"},
      problems);
  if (const auto name = read_text_key(root, "name", {}, true, problems)) {
    out.name = *name;
    const std::string bad = run_name_problem(*name);
    if (!bad.empty())
      problems.push_back({root.find("name")->value->place, "name", bad});
  }
  out.description
      = read_text_key(root, "description", {}, false, problems).value_or("");
  read_actors(root, out, problems);
  read_edges(root, out, problems);
  const auto section = [&](const char* key, configs::yaml_ptr& target) {
    const yaml_entry* entry = root.find(key);
    if (entry != nullptr
        && configs::expect_mapping(*entry->value, key,
                                   "a mapping of parameters", problems))
      target = entry->value;
  };
  section("model", out.model);
  section("prompt", out.prompt);
  return out;
}

} // namespace kvloom::graphs
