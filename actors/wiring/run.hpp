// From a checked plan to results on disk: loads the model, spawns the nodes,
// wires them, waits, and ends them in order. No actor library in the
// interface.
#pragma once

#include "actors/support/language_model.hpp"
#include "actors/wiring/progress.hpp"
#include "core/base/result.hpp"
#include "core/record/request_result.hpp"
#include "graphs/check/load_run.hpp"
#include "report/write/run_folder.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::actors {

class node_registry;

/// Makes the model of a run from the graph's sections `model` and `prompt`.
using model_loader = std::function<result<std::shared_ptr<language_model>>(
    const graphs::graph& wiring)>;

/// What a run needs beside its plan.
struct run_environment {
  /// Folder to create for the results; must not exist. The caller chooses a
  /// default (report::default_run_path).
  std::filesystem::path output;
  /// The command as typed, for the manifest.
  std::vector<std::string> command;
  /// Set to true (by a signal handler, say) to end early: what is finished is
  /// kept and written, what is under way is recorded as cancelled. Read every
  /// `poll`; null: never.
  const std::atomic<bool>* stop = nullptr;
  /// Called on the thread of run_plan_to_end, before each long step, with one
  /// plain sentence ("loading the model ..."). May be empty.
  std::function<void(const std::string&)> on_step;
  /// Called on the thread of run_plan_to_end after each result that counts.
  /// May be empty.
  std::function<void(const run_progress&)> on_progress;
  /// Empty: the engine's own (engine_model.hpp).
  model_loader load_model;
  /// Threads of the actors that never wait; the model and the recorder have
  /// their own.
  std::size_t scheduler_threads = 2;
  /// How often stop flag and deadlines are looked at.
  std::chrono::milliseconds poll{20};
  /// How long the actors may take to end once they were told to.
  std::chrono::milliseconds grace{10'000};
  /// A run in which no question is open and none can be asked for so long, or
  /// for the longest deadline, is given up.
  std::chrono::milliseconds least_stall{60'000};
};

/// What came out. All of it is in the run folder as well.
struct run_outcome {
  std::filesystem::path folder;
  /// Every request that was asked and is no warm-up, in the order in which
  /// they ended; without question, golds, passages and logits, which are in
  /// results.jsonl. After an interruption, requests that had not been asked
  /// are not in here; after the death of an actor they are, as failed.
  std::vector<request_result> results;
  report::run_summary summary;
  report::run_manifest manifest;
  /// Planned requests that were never asked, because the run was interrupted.
  std::uint64_t not_asked = 0;
  std::uint64_t failed_warmups = 0;
  /// An actor that ended before its time, in words; its requests failed.
  std::optional<error> lost_actor;
  /// The first failure to write a line; the results above are whole anyway.
  std::optional<error> write_failure;
  /// What was asked for and did not happen: `--strict` makes these failures.
  std::vector<std::string> unmet;
  /// Actors that did not end within the grace time. Not empty: their threads
  /// and the model are still alive, and the process should end.
  std::vector<std::string> survivors;
};

/// Runs a plan. Blocks; one call at a time a process is the intended use,
/// several are allowed.
///
/// Nothing is written before the nodes are prepared (data read and checked)
/// and the model is loaded. Failed requests are no error of the run: they are
/// results. Errors: bad_input (data set, graph, output folder that exists),
/// environment (model, output folder that can't be written), cancelled (stop
/// came before the first question).
result<run_outcome> run_plan_to_end(const graphs::run_plan& plan,
                                    const node_registry& nodes,
                                    const run_environment& environment);

/// Exit code that a run deserves: 0, 1 (requests failed, interrupted, or
/// unmet and strict), 3 (results could not be written).
int exit_code_of(const run_outcome& outcome, bool strict);

} // namespace kvloom::actors
