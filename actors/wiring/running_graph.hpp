// A graph as actors: spawned, wired, watched until every request has ended,
// and ended in order. The actor library stays behind this interface.
#pragma once

#include "actors/support/model_owner.hpp"
#include "actors/support/run_books.hpp"
#include "actors/wiring/registry.hpp"
#include "actors/wiring/run.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::actors {

/// What a graph runs on.
struct graph_parts {
  std::shared_ptr<language_model> model;
  std::shared_ptr<report::run_folder> folder; ///< null: nothing is written
  request_plan requests;
  first_token_options first_token;
  books_options books;
};

struct finished_run {
  run_record record;
  bool interrupted = false;
  std::optional<error> lost_actor;
  std::vector<std::string> survivors;
};

/// Blocks until every request has its result and every actor has ended (or the
/// grace time is over). An actor that dies fails all requests that have no
/// result yet. Errors: environment, internal: a node could not be spawned, or
/// the recorder gives no answer.
result<finished_run> run_graph(const graphs::run_plan& plan,
                               const std::vector<node_spawner>& spawners,
                               const graph_parts& parts,
                               const run_environment& environment);

} // namespace kvloom::actors
