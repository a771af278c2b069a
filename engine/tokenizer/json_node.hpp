// Nodes of tokenizer.json: an object with a "type".
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// The node's type name; empty if it has none.
std::string node_type(const nlohmann::json& node);

/// Refuses keys that are not listed (besides "type"): what is not known could
/// change ids.
result<void> only_keys(const nlohmann::json& node, std::string_view part,
                       std::initializer_list<std::string_view> keys);

/// The error for a node type that is not carried out. `part` names the place
/// in the file (`pre_tokenizer`).
tl::unexpected<error> unknown_node(std::string_view part,
                                   const nlohmann::json& node);

/// The error for a node that is not as the format says.
tl::unexpected<error> malformed_node(std::string_view part,
                                     const nlohmann::json& node,
                                     std::string_view wanted);

/// Sequences may lie within sequences, to this depth.
inline constexpr int max_node_depth = 16;

} // namespace kvloom::engine
