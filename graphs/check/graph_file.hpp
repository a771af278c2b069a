// A graph file as written: keys checked, values of parameters not yet typed.
#pragma once

#include "configs/read/section.hpp"
#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"
#include "graphs/model/graph.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// The schema that a file names, and what this build reads.
inline constexpr const char* graph_schema = "kvloom/graph/1";
inline constexpr const char* experiment_schema = "kvloom/experiment/1";

struct written_actor {
  std::string name;
  configs::source_place name_place;
  std::string kind; ///< empty where the file gives none (reported)
  configs::source_place kind_place;
  configs::yaml_ptr params; ///< a mapping, or null where absent
  placement place;
  /// Places of what `place` gives, by key.
  std::map<std::string, configs::placed_value> placed;
};

struct written_edge {
  std::string key_path; ///< edges[2]
  configs::source_place where;
  std::string from_node, from_port, to_node, to_port;
  configs::source_place from_place, to_place;
  std::optional<configs::placed_value> credit;
  bool whole = false; ///< both ends could be read
};

struct written_graph {
  std::string name;
  std::string description;
  configs::source_place where; ///< of the file's top mapping
  std::vector<written_actor> actors;
  std::vector<written_edge> edges;
  configs::yaml_ptr model;  ///< null where absent
  configs::yaml_ptr prompt; ///< null where absent
};

/// The text behind `schema`, checked against `wanted`; reports a missing or
/// other one, naming newer versions as such. False: not of that schema.
bool check_schema(const configs::yaml_node& root, const std::string& wanted,
                  configs::diagnostics& problems);

/// Reads a text that must be there, or may be (`needed` false).
std::optional<std::string> read_text_key(const configs::yaml_node& node,
                                         const std::string& key,
                                         const std::string& key_path,
                                         bool needed,
                                         configs::diagnostics& problems);

/// Reads the top mapping of a graph; all problems at once.
written_graph read_graph(const configs::yaml_node& root,
                         configs::diagnostics& problems);

} // namespace kvloom::graphs
