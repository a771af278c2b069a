// The commands of `kvloom`: each takes its parsed options and returns the exit
// code (0 done, 1 requests failed, 2 bad input, 3 environment).
#pragma once

#include "core/base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace kvloom::cli {

/// Options that mean the same in every command.
struct common_options {
  bool json = false;
  bool quiet = false;
};

struct run_options {
  std::string file;
  std::vector<std::string> set;
  std::string out; ///< empty: a fresh folder under runs/
  bool strict = false;
  common_options common;
};

struct graph_options {
  std::string file;
  std::vector<std::string> set;
  std::string format = "text";
  std::string out; ///< empty: standard output
  common_options common;
};

struct actors_options {
  std::string kind; ///< empty: all
  common_options common;
};

struct doctor_options {
  std::string model; ///< also open this checkpoint; empty: none
  common_options common;
};

struct tokenize_options {
  std::string model;
  std::string text;
  std::string file; ///< instead of text; `-` is standard input
  bool control = false;
  common_options common;
};

struct score_options {
  std::string predictions;
  std::string golds;
  std::string cleaning = "none";
  common_options common;
};

/// Values as they are written; empty: not given.
struct simulate_options {
  std::string trace; ///< or zipf
  std::string zipf;
  std::string capacities;
  std::string policies = "all";
  std::string bytes_per_token = "128KiB";
  std::string prefill_rate = "5000";
  std::string quadratic = "0";
  std::string look_ahead = "64";
  std::string seed = "0";
  common_options common;
};

int run(const run_options& options);
int check(const run_options& options);
int graph(const graph_options& options);
int actors(const actors_options& options);
int doctor(const doctor_options& options);
int tokenize(const tokenize_options& options);
int score(const score_options& options);
int simulate(const simulate_options& options);

/// Prints an error to standard error and gives its exit code.
int report_error(const error& what);

/// The KVLOOM_* variables of the environment.
std::map<std::string, std::string> kvloom_environment();

} // namespace kvloom::cli
