// Strict JSON text for model files.
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace kvloom::engine {

using json = nlohmann::json;

/// Parses one JSON object. Refuses what the format forbids or two readers
/// would read differently: text behind the end, duplicate keys, invalid
/// UTF-8, nesting deeper than 64.
/// Errors: environment, with `place`, `what` ("header") and the byte position.
result<json> parse_json_object(std::span<const std::byte> text,
                               const std::string& place,
                               const std::string& what);

} // namespace kvloom::engine
