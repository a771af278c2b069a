// `kvloom run` and `kvloom check`.
#include "actors/wiring/registry.hpp"
#include "actors/wiring/run.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/stop_signals.hpp"
#include "graphs/check/load_run.hpp"
#include "report/write/run_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace kvloom::cli {

namespace {

using nlohmann::json;

/// Failed requests printed one by one; the rest is in the results.
constexpr std::size_t most_failures_shown = 20;

result<graphs::run_plan> load(const run_options& options,
                              const actors::node_registry& nodes) {
  auto plan
      = graphs::load_run({options.file, options.set, kvloom_environment()},
                         actors::kinds_of(nodes));
  if (!plan) return tl::unexpected<error>(configs::to_error(plan.error()));
  return std::move(*plan);
}

/// The command that repeats the run, for the manifest.
std::vector<std::string> as_typed(const run_options& options) {
  std::vector<std::string> words{"kvloom", "run", options.file};
  for (const auto& value : options.set) {
    words.emplace_back("--set");
    words.push_back(value);
  }
  if (!options.out.empty()) {
    words.emplace_back("--out");
    words.push_back(options.out);
  }
  if (options.strict) words.emplace_back("--strict");
  return words;
}

void list_failures(const actors::run_outcome& outcome) {
  std::size_t shown = 0, failed = 0;
  for (const auto& one : outcome.results) {
    if (one.ok) continue;
    ++failed;
    if (shown == most_failures_shown) continue;
    ++shown;
    say("failed: {}: {}\n", one.id,
        one.error_text.value_or("no reason was recorded"));
  }
  if (failed > shown) {
    say("failed: {} more, see {}\n", failed - shown,
        (outcome.folder / "results.jsonl").string());
  }
}

void print_outcome(const actors::run_outcome& outcome,
                   const run_options& options) {
  if (!options.common.quiet) {
    for (const auto& note : outcome.manifest.notes) say("note: {}\n", note);
  }
  list_failures(outcome);
  if (outcome.failed_warmups > 0) {
    say("failed: {} warm-up requests\n", outcome.failed_warmups);
  }
  if (outcome.lost_actor) {
    say("error: {}\n", to_string(*outcome.lost_actor));
  }
  if (outcome.write_failure) {
    say("error: results are not whole: {}\n",
        to_string(*outcome.write_failure));
  }
  if (outcome.summary.interrupted) {
    say("interrupted: {} requests were never asked\n", outcome.not_asked);
  }
  if (options.strict) {
    for (const auto& what : outcome.unmet)
      say("error: {}; --strict wants it to happen\n", what);
  }
  if (options.common.json) {
    auto out = json::parse(outcome.summary.to_json(outcome.results));
    out["folder"] = outcome.folder.string();
    put("{}\n", out.dump(2));
  } else if (!options.common.quiet) {
    put("{}\nresults: {}\n",
        report::summary_table(outcome.results, outcome.summary),
        outcome.folder.string());
  }
}

} // namespace

int run(const run_options& options) {
  actors::node_registry nodes;
  actors::register_builtin_nodes(nodes);
  const auto plan = load(options, nodes);
  if (!plan) return report_error(plan.error());

  const stop_signals signals;
  progress_line progress(options.common.quiet);
  actors::run_environment environment;
  environment.output = options.out.empty()
                           ? report::default_run_path(plan->name)
                           : std::filesystem::path(options.out);
  environment.command = as_typed(options);
  environment.stop = &stop_signals::flag();
  environment.on_step = [&](const std::string& step) {
    progress.finish();
    if (!options.common.quiet) say("{}\n", step);
  };
  environment.on_progress = [&](const actors::run_progress& now) {
    progress.show(now.done, now.failed, now.total, now.requests_per_s);
  };
  const auto outcome = actors::run_plan_to_end(*plan, nodes, environment);
  progress.finish();
  if (!outcome) return report_error(outcome.error());
  print_outcome(*outcome, options);
  const int code = actors::exit_code_of(*outcome, options.strict);
  if (!outcome->survivors.empty()) {
    say("error: did not end in time: {}\n",
        fmt::join(outcome->survivors, ", "));
    // Their threads still use what destructors would take away; the results
    // are on disk.
    std::_Exit(output_code(code == 0 ? 3 : code));
  }
  return code;
}

int check(const run_options& options) {
  actors::node_registry nodes;
  actors::register_builtin_nodes(nodes);
  const auto plan = load(options, nodes);
  if (!plan) return report_error(plan.error());
  if (options.common.json) {
    const json out{
        {"ok", true}, {"name", plan->name}, {"resolved", plan->resolved_yaml}};
    put("{}\n", out.dump(2));
  } else if (!options.common.quiet) {
    put("ok: {}: {} actors, {} edges\n", plan->name, plan->wiring.nodes.size(),
        plan->wiring.edges.size());
  }
  return 0;
}

} // namespace kvloom::cli
