// Rotary parameters of config.json.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/json.hpp"
#include "engine/model/model_config.hpp"

#include <string>
#include <vector>

namespace kvloom::engine {

/// Reads `rope_theta`, `rope_scaling` (transformers 4) and `rope_parameters`
/// (5). Schemes whose frequencies depend on the length (dynamic, longrope)
/// are refused: KV computed at one length could not be reused at another.
/// Errors: bad_input naming the key.
result<rope_config> read_hf_rope(const json& text, std::int64_t context_length,
                                 const std::string& place,
                                 std::vector<std::string>& notes);

} // namespace kvloom::engine
