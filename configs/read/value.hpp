// Values of declared parameters out of YAML nodes and command-line texts.
#pragma once

#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"
#include "configs/schema/param.hpp"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace kvloom::configs {

/// Reads one node by its declaration; appends what is wrong to `problems`
/// (key_path as given, `[i]` behind it for list elements) and then returns
/// nothing.
std::optional<param_value> read_value(const param_spec& spec,
                                      const yaml_node& node,
                                      const std::string& key_path,
                                      diagnostics& problems);

struct text_problem {
  std::size_t column = 0; ///< of the value text, from 0
  std::string message;
};

/// Reads a value as typed on a command line or in the environment. One rule
/// for all: a text, choice or path is what stands there, to the letter, but
/// if it begins with a double quote it is a quoted text (escapes \" \\ \n
/// \t, nothing behind the closing quote). A list is [a, "b,c", d]: elements
/// between commas, blanks around them dropped, quoted where they hold a
/// comma, bracket or outer blank. Everything else is as in YAML.
tl::expected<param_value, text_problem> read_value_text(const param_spec& spec,
                                                        std::string_view text);

} // namespace kvloom::configs
