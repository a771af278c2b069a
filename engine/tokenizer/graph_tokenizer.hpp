// A tokenizer as the parts that its file declares.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/added_tokens.hpp"
#include "engine/tokenizer/decoder.hpp"
#include "engine/tokenizer/normalizer.hpp"
#include "engine/tokenizer/pre_tokenizer.hpp"
#include "engine/tokenizer/token_model.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::engine {

struct tokenizer_parts {
  std::shared_ptr<const vocabulary> words;
  std::vector<added_token> added;
  std::shared_ptr<const normalizer> rewrite; ///< or null
  std::shared_ptr<const pre_tokenizer> cut;  ///< or null
  std::shared_ptr<const token_model> model;
  decoder spell;
  std::optional<token_id> bos; ///< only if it starts every prompt
  std::string digest;
  std::string chat_template;
};

/// Errors: bad_input when an added token's spelling cannot be normalised, or
/// contradicts the vocabulary.
result<std::shared_ptr<const tokenizer>>
make_graph_tokenizer(tokenizer_parts parts);

} // namespace kvloom::engine
