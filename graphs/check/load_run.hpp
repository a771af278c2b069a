// From files and overrides to a run that may be started: read, merged,
// checked; nothing is loaded or spawned before this succeeded.
#pragma once

#include "configs/schema/diagnostic.hpp"
#include "graphs/model/graph.hpp"
#include "graphs/model/kind.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// Everything `kvloom run` needs to know.
struct run_plan {
  std::string name; ///< of the experiment; without one, of the graph
  graph wiring;
  std::filesystem::path graph_file;
  std::filesystem::path experiment_file; ///< empty: a graph was run directly
  std::int64_t repeat = 1;
  std::int64_t warmup = 0;
  std::uint64_t seed = 0;
  /// The whole resolved configuration as YAML, with the origin of every value
  /// as a comment; reading it back gives the same plan.
  std::string resolved_yaml;
  /// The same without the comments: equal for plans with equal values.
  std::string values_yaml;
};

struct run_request {
  std::filesystem::path file;   ///< graph or experiment, told by `schema`
  std::vector<std::string> set; ///< "node.param=value", as typed
  std::map<std::string, std::string> environment; ///< KVLOOM_* variables
};

/// All errors of the files at once, in the order of their places.
tl::expected<run_plan, configs::diagnostics>
load_run(const run_request& request, const kind_catalogue& kinds);

/// Parameters of the `model` and `prompt` sections and of the run itself
/// (seed, repeat, warmup), for help and docs.
const std::vector<configs::param_spec>& model_params();
const std::vector<configs::param_spec>& prompt_params();
const std::vector<configs::param_spec>& run_params();

/// Parameters of an edge (credit) and of a node's `place`.
const std::vector<configs::param_spec>& edge_params();
const std::vector<configs::param_spec>& place_params();

/// Pictures of a graph.
std::string draw_text(const graph& wiring);
std::string draw_dot(const graph& wiring);
std::string draw_svg(const graph& wiring);

} // namespace kvloom::graphs
