// Patterns and split behaviors as tokenizer.json writes them.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/split.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace kvloom::engine {

/// The member "pattern" of a node, {"String": s} or {"Regex": r}. Errors:
/// bad_input, environment. May throw what the JSON library throws.
result<split_pattern> make_split_pattern(std::string_view part,
                                         const nlohmann::json& node);

/// "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
/// "Contiguous". Errors: bad_input with the name found.
result<split_behavior> parse_split_behavior(std::string_view name);

} // namespace kvloom::engine
