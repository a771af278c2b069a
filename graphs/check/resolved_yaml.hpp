// The whole configuration of a run as one YAML text.
#pragma once

#include "configs/schema/param.hpp"
#include "graphs/check/load_run.hpp"

#include <string>

namespace kvloom::graphs {

enum class with_origins : bool { no, yes };

/// An experiment with its graph inline, every value (with its origin as a
/// comment); load_run() on it gives the same plan.
std::string write_resolved(const run_plan& plan,
                           const configs::resolved_params& run,
                           const kind_catalogue& kinds, with_origins origins);

} // namespace kvloom::graphs
