// The tokenizer part of a GGUF file, as plain data.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::engine {

/// Keys `tokenizer.ggml.*` of a GGUF file; absent keys are empty.
struct gguf_vocabulary {
  std::string model; ///< "gpt2" or "llama"
  std::string pre;   ///< name of the pre-tokenizer ("smollm", "llama-bpe", ..)
  std::vector<std::string> tokens;
  std::vector<float> scores;       ///< [tokens] or empty
  std::vector<std::int32_t> types; ///< [tokens] or empty; 1 normal,
                                   ///< 2 unknown, 3 control, 4 user
                                   ///< defined, 5 unused, 6 byte
  std::vector<std::string> merges; ///< "left right"
  std::optional<token_id> bos, eos, unknown, padding;
  std::optional<bool> add_bos, add_space_prefix;
  std::string chat_template;
};

/// Reads them; every length is checked against the file's size before any
/// allocation. Implemented in engine/files/gguf.cpp.
result<gguf_vocabulary> read_gguf_vocabulary(const std::filesystem::path& path);

} // namespace kvloom::engine
