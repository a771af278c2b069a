// What is wrong with a file, where, and what to do; many at once.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace kvloom::configs {

struct source_place {
  std::string file; ///< as the user gave it; or `--set`, `KVLOOM_X`
  int line = 0;     ///< from 1; 0: none
  int column = 0;   ///< from 1; 0: none
};

std::string to_string(const source_place& place); ///< file:line:column

/// A file, option or variable as a whole.
source_place whole(std::string file);

struct diagnostic {
  source_place place;
  std::string key_path; ///< actors.retriever.params.top_k; may be empty
  std::string message;  ///< found, wanted, remedy
};

/// `file:line:col: key.path: message`, one line.
std::string to_string(const diagnostic& what);

using diagnostics = std::vector<diagnostic>;

/// All of them (of a flood, the first 200) as one error of kind bad_input, a
/// line each.
error to_error(const diagnostics& all);

} // namespace kvloom::configs
