// An experiment file as written: a graph and small deltas over it.
#pragma once

#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"

#include <string>
#include <vector>

namespace kvloom::graphs {

/// One entry of `set`, not yet typed.
struct written_setting {
  std::string owner, name;
  configs::yaml_ptr value;
  configs::source_place key_place;
  std::string key_path;
};

struct written_experiment {
  std::string name;               ///< may be empty
  std::string graph;              ///< path as written; empty where inline
  configs::yaml_ptr inline_graph; ///< a whole graph in place of the path
  configs::source_place graph_place;
  std::vector<written_setting> set;
  configs::yaml_ptr root; ///< seed, repeat, warmup are read from it
};

/// Reads the top mapping of an experiment; all problems at once. `set` takes
/// `actor.param: value` and `actor: {param: value}`; a parameter given in
/// both ways is a duplicate.
written_experiment read_experiment(const configs::yaml_ptr& root,
                                   configs::diagnostics& problems);

} // namespace kvloom::graphs
