// A checked graph: nodes with resolved parameters, and edges.
#pragma once

#include "configs/schema/diagnostic.hpp"
#include "configs/schema/param.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// Where a node runs. Only `cpu` devices of this process exist so far;
/// anything else is refused by the check.
struct placement {
  std::string device = "cpu";
  std::string node; ///< host name; empty: here
  std::int64_t replicas = 1;
  std::int64_t threads = 0; ///< 0: as the model says; others are refused
};

struct graph_node {
  std::string name;
  std::string kind;
  configs::resolved_params params;
  placement place;
  configs::source_place where;
  /// Of what `place` was given, by key; the rest are defaults.
  std::map<std::string, configs::value_origin> place_origins;
};

struct graph_edge {
  std::string from_node, from_port;
  std::string to_node, to_port;
  std::int64_t credit = 4; ///< messages in flight, at most; >= 1
  configs::value_origin credit_origin;
  configs::source_place where;
};

struct graph {
  std::string name;
  std::string description;       ///< for people; may be empty
  std::vector<graph_node> nodes; ///< in the file's order
  std::vector<graph_edge> edges;
  /// Sections of the file beside `actors` and `edges`.
  configs::resolved_params model;  ///< path, precision, threads, ...
  configs::resolved_params prompt; ///< style, wording

  const graph_node* find(const std::string& name) const;
};

} // namespace kvloom::graphs
