// Mappings against the keys that they may have.
#pragma once

#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"
#include "configs/schema/param.hpp"

#include <map>
#include <string>
#include <vector>

namespace kvloom::configs {

/// True if `node` is a mapping; else says what was found and wanted.
bool expect_mapping(const yaml_node& node, const std::string& key_path,
                    const std::string& wanted, diagnostics& problems);

/// Reports every key of the mapping that is not in `known`, with the nearest
/// known one.
void refuse_unknown_keys(const yaml_node& node, const std::string& key_path,
                         const std::vector<std::string>& known,
                         diagnostics& problems);

/// A value with the place that it came from.
struct placed_value {
  param_value value;
  source_place place;
};

/// Reads a mapping of parameters. Unknown keys, wrong types and ranges are
/// reported; values that are fine come back. Missing ones are the caller's
/// concern, since later layers may give them.
std::map<std::string, placed_value>
read_params(const yaml_node& node, const std::vector<param_spec>& specs,
            const std::string& key_path, diagnostics& problems);

const param_spec* find_spec(const std::vector<param_spec>& specs,
                            const std::string& name);

std::vector<std::string> names_of(const std::vector<param_spec>& specs);

/// `outer.inner`, or `inner` where outer is empty.
std::string join_path(const std::string& outer, const std::string& inner);

} // namespace kvloom::configs
