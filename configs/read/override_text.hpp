// Overrides that do not come from a file: `--set path=value` and KVLOOM_
// variables.
#pragma once

#include "configs/schema/diagnostic.hpp"

#include <map>
#include <string>
#include <vector>

namespace kvloom::configs {

/// `owner.name = text`, not yet typed.
struct override_text {
  std::string owner; ///< node, model, prompt; empty for seed and the like
  std::string name;
  std::string text;
  source_place place;   ///< of the whole; file is the option or variable
  int value_column = 0; ///< column of the value in the option, from 1
};

/// Splits `path=value`, where path is `owner.name` or `name`.
std::vector<override_text> read_set_options(const std::vector<std::string>& set,
                                            diagnostics& problems);

/// Matches KVLOOM_<OWNER>__<NAME> and KVLOOM_<NAME> (upper case) against the
/// known targets, `owner.name` or `name`. A KVLOOM_ variable that names no
/// target is an error, but for KVLOOM_VENV, KVLOOM_BUILD, KVLOOM_MODELS,
/// KVLOOM_JOBS and KVLOOM_TEST_..., which belong to scripts and tests.
/// Variables without the prefix are ignored.
std::vector<override_text>
read_environment(const std::map<std::string, std::string>& variables,
                 const std::vector<std::string>& targets,
                 diagnostics& problems);

/// The variable of a target: `retriever.top_k` is KVLOOM_RETRIEVER__TOP_K.
std::string variable_name(const std::string& target);

} // namespace kvloom::configs
