// The post-processor of tokenizer.json: which tokens it puts around a text.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace kvloom::engine {

/// The token that the graph puts before a single text. Nodes: Sequence,
/// TemplateProcessing, ByteLevel (changes offsets only); null gives none.
/// Tokens behind the text are for encoders and training, and left out: a
/// prompt goes on. Errors: bad_input naming a node type that is none of these,
/// or for more than one token in front; environment for a malformed node. May
/// throw what the JSON library throws.
result<std::optional<token_id>> leading_token(const nlohmann::json& node,
                                              int depth = 0);

} // namespace kvloom::engine
