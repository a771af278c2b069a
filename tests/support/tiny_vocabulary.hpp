// The vocabulary of the tiny models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvloom::test_support {

/// Byte-level BPE. Ids: 256 bytes in the order of the alphabet, merged tokens,
/// control tokens.
struct tiny_vocabulary {
  std::vector<std::string> tokens;
  std::vector<std::string> merges; ///< "left right"
  std::vector<std::int32_t> types; ///< of GGUF: 1 normal, 3 control
  std::int32_t end_of_text = 0;    ///< "<|endoftext|>"
  std::int32_t message_start = 0;  ///< "<|im_start|>"
  std::int32_t message_end = 0;    ///< "<|im_end|>"
};

const tiny_vocabulary& tiny_words();

/// The text of its tokenizer.json.
std::string tiny_tokenizer_json();

} // namespace kvloom::test_support
