// The command kvloom: reads the command line, nothing else.
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "configs/schema/nearest.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <clocale>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kvloom::cli;

void add_common(CLI::App* command, common_options& options) {
  command->add_flag("--json", options.json, "Print JSON instead of text");
  command->add_flag("--quiet,-q", options.quiet, "Print errors only");
}

void add_file(CLI::App* command, std::string& file,
              std::vector<std::string>& set) {
  command->add_option("FILE", file, "Graph or experiment YAML")->required();
  command
      ->add_option("--set", set,
                   "Override a value: --set retriever.top_k=8; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

void add_simulate(CLI::App* command, simulate_options& options) {
  auto* trace = command->add_option(
      "--trace", options.trace,
      "JSON lines, plain or gzip: {\"chunks\": [{\"id\", \"tokens\"}]} or "
      "Mooncake's");
  auto* zipf = command->add_option(
      "--zipf", options.zipf,
      "A made-up trace: n=10000,s=0.9,requests=100000,chunks=5,tokens=200..900,"
      "drift=0,repeat=0");
  trace->excludes(zipf);
  command
      ->add_option("--capacity", options.capacities,
                   "Sizes of the store: 1GiB or 512MiB,4GiB")
      ->type_name("SIZE,...")
      ->required();
  command->add_option("--policy", options.policies, "all, or names: lru,pgdsf")
      ->capture_default_str();
  command
      ->add_option("--bytes-per-token", options.bytes_per_token,
                   "KV of a token")
      ->capture_default_str();
  command
      ->add_option("--prefill-rate", options.prefill_rate,
                   "Tokens a second that are recomputed")
      ->capture_default_str();
  command
      ->add_option("--quadratic", options.quadratic,
                   "Seconds more for each token squared of a chunk")
      ->capture_default_str();
  command
      ->add_option("--look-ahead", options.look_ahead,
                   "Queued requests that look_ahead policies know")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Of --zipf")
      ->capture_default_str();
}

/// A command line that could not be read, in our words; `command` is the first
/// argument, or null.
std::string wrong_usage(const CLI::App& app, const CLI::Error& problem,
                        const char* command) {
  const std::string given = command == nullptr ? "" : command;
  std::vector<std::string> known;
  for (const auto* one : app.get_subcommands({}))
    known.push_back(one->get_name());
  std::string text = "error: ";
  if (given.empty() || given.front() == '-'
      || std::find(known.begin(), known.end(), given) != known.end()) {
    text += problem.what();
  } else {
    text += "unknown command `" + given + "`"
            + kvloom::configs::hint(given, "commands", known);
  }
  return text
         + "\nkvloom --help, and kvloom COMMAND --help, say what is known.\n";
}

/// Reads the command line and does what it says; gives the exit code.
int obey(int argc, char** argv) {
  CLI::App app{"kvloom: experiments on KV-cache reuse in retrieval-augmented "
               "generation"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "kvloom " KVLOOM_VERSION);
  app.footer("Exit codes: 0 done, 1 some requests failed (listed), 2 bad input "
             "or configuration, 3 environment.");

  run_options run_given;
  auto* run_command = app.add_subcommand(
      "run", "Run a graph or experiment and write its results");
  add_file(run_command, run_given.file, run_given.set);
  run_command
      ->add_option("--out", run_given.out,
                   "Folder to create for the results (default: a fresh one "
                   "under runs/)")
      ->type_name("FOLDER")
      ->check([](const std::string& given) {
        return given.empty() ? std::string("names no folder") : std::string();
      });
  run_command->add_flag("--strict", run_given.strict,
                        "Fail (exit 1) on anything that was asked for and did "
                        "not happen");
  add_common(run_command, run_given.common);

  run_options check_given;
  auto* check_command = app.add_subcommand(
      "check", "Check a graph or experiment; loads and runs nothing");
  add_file(check_command, check_given.file, check_given.set);
  add_common(check_command, check_given.common);

  graph_options graph_given;
  auto* graph_command = app.add_subcommand("graph", "Draw a graph");
  add_file(graph_command, graph_given.file, graph_given.set);
  graph_command
      ->add_option("--format,-f", graph_given.format, "text, dot or svg")
      ->check(CLI::IsMember({"text", "dot", "svg"}))
      ->capture_default_str();
  graph_command->add_option("--out,-o", graph_given.out,
                            "File to write (default: standard output)");
  add_common(graph_command, graph_given.common);

  actors_options actors_given;
  auto* actors_command = app.add_subcommand(
      "actors", "List the kinds of actors, their ports and parameters");
  actors_command->add_option(
      "TYPE", actors_given.kind,
      "Only this kind (or `model`, `prompt`, `place`, `edges`)");
  add_common(actors_command, actors_given.common);

  doctor_options doctor_given;
  auto* doctor_command
      = app.add_subcommand("doctor", "Say what this machine can do");
  doctor_command->add_option("--model", doctor_given.model,
                             "Also open and describe this model");
  add_common(doctor_command, doctor_given.common);

  tokenize_options tokenize_given;
  auto* tokenize_command
      = app.add_subcommand("tokenize", "Print the token ids of a text");
  tokenize_command
      ->add_option("--model", tokenize_given.model,
                   "GGUF file, model folder or tokenizer.json")
      ->required();
  auto* text = tokenize_command->add_option("--text", tokenize_given.text,
                                            "The text itself");
  auto* file = tokenize_command->add_option(
      "--file", tokenize_given.file,
      "File with the text, plain or gzip; - is standard input");
  text->excludes(file);
  tokenize_command->add_flag(
      "--control", tokenize_given.control,
      "Read the spelling of control tokens as the tokens (templates)");
  add_common(tokenize_command, tokenize_given.common);

  score_options score_given;
  auto* score_command
      = app.add_subcommand("score", "Score predictions against golds");
  score_command
      ->add_option("--pred", score_given.predictions,
                   "JSON lines with id and answer (a results.jsonl will do)")
      ->required();
  score_command
      ->add_option("--gold", score_given.golds, "JSON lines with id and golds")
      ->required();
  score_command
      ->add_option("--clean", score_given.cleaning,
                   "What becomes of an answer first: none or first_line")
      ->check(CLI::IsMember({"none", "first_line"}))
      ->capture_default_str();
  add_common(score_command, score_given.common);

  simulate_options simulate_given;
  auto* simulate_command = app.add_subcommand(
      "simulate", "Eviction policies on a trace of requests, and the bound");
  add_simulate(simulate_command, simulate_given);
  add_common(simulate_command, simulate_given.common);

  app.failure_message([&](const CLI::App*, const CLI::Error& problem) {
    return wrong_usage(app, problem, argc > 1 ? argv[1] : nullptr);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const int code = app.exit(problem, out, err) == 0 ? 0 : 2;
    put_text(out.str());
    say_text(err.str());
    return code;
  }
  try {
    if (*run_command) return run(run_given);
    if (*check_command) return check(check_given);
    if (*graph_command) return graph(graph_given);
    if (*actors_command) return kvloom::cli::actors(actors_given);
    if (*doctor_command) return doctor(doctor_given);
    if (*tokenize_command) {
      if (text->count() + file->count() == 0) {
        say_text("error: tokenize wants --text T or --file F\n");
        return 2;
      }
      return tokenize(tokenize_given);
    }
    if (*score_command) return score(score_given);
    if (*simulate_command) return simulate(simulate_given);
  } catch (const std::exception& problem) {
    say("error: a fault of kvloom itself: {}\n", problem.what());
    return 3;
  }
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  guard_standard_streams();
  std::setlocale(LC_ALL, "C.UTF-8");
  return output_code(obey(argc, argv));
}
