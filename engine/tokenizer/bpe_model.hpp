// Byte pair encoding with ranked merges, as tokenizer.json and the gpt2 kind
// of GGUF write it. Sennrich et al. 2016, arXiv 1508.07909.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/token_model.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::engine {

struct bpe_options {
  std::optional<std::string> unknown; ///< spelling of the unknown token
  std::string continuing_prefix;      ///< put before all pieces but the first
  std::string word_suffix;            ///< put behind the last piece
  bool fuse_unknown = false;          ///< one unknown for several in a row
  bool byte_fallback = false;         ///< unknown characters as <0x..> bytes
  bool ignore_merges = false;         ///< a word of the vocabulary is one id
};

using merge_list = std::vector<std::pair<std::string, std::string>>;

/// `control[id]` true keeps an id from ever being produced (the unknown token
/// apart); it may be shorter than the vocabulary. Errors: environment for a
/// merge whose sides or result the vocabulary lacks, or a missing unknown
/// token.
result<std::shared_ptr<const token_model>>
make_bpe_model(std::shared_ptr<const vocabulary> words,
               const merge_list& merges, const bpe_options& options,
               std::vector<bool> control);

} // namespace kvloom::engine
