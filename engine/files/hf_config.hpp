// config.json of a Hugging Face folder: what changes the arithmetic is
// honoured or refused.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/json.hpp"
#include "engine/files/weight_table.hpp"
#include "engine/model/model_config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvloom::engine {

/// A read configuration. `config.vocab_size` is the declared one.
struct hf_config {
  model_config config;
  declared_biases biases;
  bool tied = false; ///< tie_word_embeddings; false where absent
  std::vector<std::string> notes;
};

/// Reads a parsed config.json (transformers 4 and 5 spellings). Sizes and
/// ranges are checked. Errors: bad_input naming the key, what it holds and
/// what is supported, with `place`.
result<hf_config> read_hf_config(const json& text, const std::string& place);

/// Ids of the key eos_token_id (a number, a list, or null) of config.json or
/// generation_config.json; nothing where it is absent or null.
result<std::optional<std::vector<token_id>>> read_eos(const json& text,
                                                      const std::string& place);

} // namespace kvloom::engine
