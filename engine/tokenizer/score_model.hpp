// Byte pair encoding by scores, as SentencePiece and the llama kind of GGUF
// have it: neighbours merge whenever the vocabulary has the joined piece, the
// highest score first. Kudo & Richardson 2018, arXiv 1808.06226.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/token_model.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace kvloom::engine {

/// What a piece is for, as GGUF counts it (tokenizer.ggml.token_type).
enum class piece_type : std::uint8_t {
  normal = 1,
  unknown,
  control,
  user_defined,
  unused,
  byte,
};

/// `scores` and `types` are [words.size()]. Characters that the vocabulary
/// lacks become byte pieces, or `unknown` where those are missing. An unused
/// piece is made like any other and then taken apart again.
std::shared_ptr<const token_model>
make_score_model(std::shared_ptr<const vocabulary> words,
                 std::vector<float> scores, std::vector<piece_type> types,
                 std::optional<token_id> unknown);

} // namespace kvloom::engine
