#include "actors/wiring/run.hpp"

#include "actors/support/engine_model.hpp"
#include "actors/wiring/manifest_text.hpp"
#include "actors/wiring/running_graph.hpp"
#include "core/base/sha256.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace kvloom::actors {

namespace {

struct prepared_run {
  prepare_context context;
  std::vector<node_spawner> spawners; ///< in the order of the plan's nodes
};

/// The only node whose kind fits; an error if there is none or another.
result<const graphs::graph_node*> the_only(const graphs::run_plan& plan,
                                           const node_registry& nodes,
                                           bool graphs::actor_kind::*fits,
                                           const char* what) {
  const graphs::graph_node* found = nullptr;
  for (const auto& node : plan.wiring.nodes) {
    const auto* type = nodes.find(node.kind);
    if (type == nullptr)
      return fail(errc::bad_input,
                  fmt::format("there is no actor type '{}'", node.kind),
                  configs::to_string(node.where));
    if (!(type->kind.*fits)) continue;
    if (found != nullptr)
      return fail(errc::bad_input,
                  fmt::format("'{}' and '{}' are both a {}; a run has one",
                              found->name, node.name, what),
                  configs::to_string(node.where));
    found = &node;
  }
  if (found == nullptr)
    return fail(errc::bad_input,
                fmt::format("the graph has no {}: add one to `actors`", what),
                plan.graph_file.string());
  return found;
}

result<prepared_run> prepare(const graphs::run_plan& plan,
                             const node_registry& nodes) {
  auto source = the_only(plan, nodes, &graphs::actor_kind::source,
                         "source of questions");
  if (!source) return pass_on(source);
  auto sink = the_only(plan, nodes, &graphs::actor_kind::sink, "recorder");
  if (!sink) return pass_on(sink);
  prepared_run run{prepare_context(plan), {}};
  run.spawners.resize(plan.wiring.nodes.size());
  const auto prepare_one = [&](const graphs::graph_node& node) -> result<void> {
    auto made = nodes.find(node.kind)->prepare(node, run.context);
    if (!made) return pass_on(made);
    run.spawners[static_cast<std::size_t>(&node - plan.wiring.nodes.data())]
        = std::move(*made);
    return {};
  };
  // The others may need what the source read.
  if (auto done = prepare_one(**source); !done) return pass_on(done);
  if (!run.context.requests)
    return fail(
        errc::internal,
        fmt::format("the source '{}' planned no requests", (*source)->name),
        configs::to_string((*source)->where));
  for (const auto& node : plan.wiring.nodes) {
    if (&node == *source) continue;
    if (auto done = prepare_one(node); !done) return pass_on(done);
  }
  return run;
}

report::run_manifest manifest_of(const graphs::run_plan& plan,
                                 const prepare_context& context,
                                 const language_model& model,
                                 const run_environment& environment) {
  report::run_manifest manifest;
  report::add_this_machine(manifest);
  manifest.digests = context.digests;
  manifest.digests.merge(model.digests());
  manifest.digests["config"] = sha256_hex(plan.values_yaml);
  manifest.settings = model.settings();
  manifest.settings["scheduler_threads"]
      = std::to_string(environment.scheduler_threads);
  manifest.command = environment.command;
  manifest.notes = context.notes;
  manifest.notes.insert(manifest.notes.end(), context.unmet.begin(),
                        context.unmet.end());
  const auto notes = model.notes();
  manifest.notes.insert(manifest.notes.end(), notes.begin(), notes.end());
  manifest.seed = plan.seed;
  return manifest;
}

/// Without this a missing place for results is found only after minutes of
/// loading; the folder itself is made when there is something to write.
result<void> check_output(const std::filesystem::path& output) {
  std::error_code ignored;
  if (output.empty())
    return fail(errc::bad_input, "no folder for the results was given");
  if (std::filesystem::exists(std::filesystem::symlink_status(output, ignored)))
    return fail(errc::bad_input,
                "the folder for the results exists already; name another, or "
                "remove it",
                output.string());
  // The part of the path that is there must take new entries.
  auto parent = std::filesystem::absolute(output, ignored).parent_path();
  while (parent.has_relative_path()
         && !std::filesystem::exists(parent, ignored))
    parent = parent.parent_path();
  if (!std::filesystem::is_directory(parent, ignored)
      || ::access(parent.c_str(), W_OK | X_OK) != 0)
    return fail(errc::environment,
                fmt::format("no folder can be made in {}; name one in a "
                            "folder that may be written",
                            parent.string()),
                output.string());
  return {};
}

bool wants_to_stop(const run_environment& environment) {
  return environment.stop != nullptr
         && environment.stop->load(std::memory_order_relaxed);
}

run_outcome outcome_of(finished_run finished, prepare_context& context) {
  run_outcome outcome;
  auto& record = finished.record;
  outcome.summary.requests = record.results.size();
  outcome.summary.ok = static_cast<std::uint64_t>(
      std::count_if(record.results.begin(), record.results.end(),
                    [](const request_result& line) { return line.ok; }));
  outcome.summary.failed = outcome.summary.requests - outcome.summary.ok;
  outcome.summary.warmups = record.warmups;
  if (record.first_ns != 0 && record.last_ns > record.first_ns)
    outcome.summary.wall_ns = record.last_ns - record.first_ns;
  outcome.summary.interrupted = finished.interrupted;
  outcome.not_asked = record.not_asked;
  outcome.failed_warmups = record.failed_warmups;
  outcome.lost_actor = std::move(finished.lost_actor);
  outcome.write_failure = std::move(record.write_failure);
  outcome.survivors = std::move(finished.survivors);
  outcome.unmet = std::move(context.unmet);
  if (record.failed_warmups > 0)
    outcome.unmet.push_back(fmt::format("{} of {} warm-ups failed",
                                        record.failed_warmups, record.warmups));
  outcome.results = std::move(record.results);
  return outcome;
}

} // namespace

result<run_outcome> run_plan_to_end(const graphs::run_plan& plan,
                                    const node_registry& nodes,
                                    const run_environment& environment) {
  const auto say = [&](const std::string& sentence) {
    if (environment.on_step) environment.on_step(sentence);
  };
  if (auto free = check_output(environment.output); !free) return pass_on(free);
  say("reading the data");
  auto prepared = prepare(plan, nodes);
  if (!prepared) return pass_on(prepared);
  auto& context = prepared->context;
  say("loading the model");
  auto model = guarded([&] {
    return environment.load_model ? environment.load_model(plan.wiring)
                                  : load_engine_model(plan.wiring);
  });
  if (!model) return pass_on(model);
  if (wants_to_stop(environment))
    return fail(errc::cancelled,
                "the run was told to stop before its first question; nothing "
                "was written");
  auto manifest = manifest_of(plan, context, **model, environment);
  auto made = report::run_folder::create(environment.output);
  if (!made) return pass_on(made);
  auto folder = std::make_shared<report::run_folder>(std::move(*made));
  auto described
      = folder->write_file("config.resolved.yaml", plan.resolved_yaml);
  if (described)
    described = folder->write_file("manifest.json", manifest_text(manifest));
  if (!described) {
    folder->discard();
    return pass_on(described);
  }
  context.books.least_stall_ns
      = std::chrono::nanoseconds(environment.least_stall).count();
  say(fmt::format("asking {} questions", context.requests->size()));
  auto finished = run_graph(
      plan, prepared->spawners,
      {*model, folder, context.requests, context.first_token, context.books},
      environment);
  if (!finished) {
    folder->discard();
    return pass_on(finished);
  }
  auto outcome = outcome_of(std::move(*finished), context);
  outcome.folder = folder->path();
  outcome.manifest = std::move(manifest);
  auto written = folder->write_file("summary.json",
                                    outcome.summary.to_json(outcome.results));
  if (!written && !outcome.write_failure)
    outcome.write_failure = std::move(written.error());
  return outcome;
}

int exit_code_of(const run_outcome& outcome, bool strict) {
  if (outcome.write_failure) return exit_code(errc::environment);
  if (outcome.summary.failed > 0 || outcome.summary.interrupted
      || outcome.lost_actor || (strict && !outcome.unmet.empty()))
    return exit_code(errc::request_failed);
  return 0;
}

} // namespace kvloom::actors
