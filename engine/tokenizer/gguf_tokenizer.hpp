// Tokenizers of GGUF files: the vocabulary is in the file, the way of cutting
// text is known by name.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/gguf_vocabulary.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <memory>

namespace kvloom::engine {

/// Kind `gpt2` (byte-level BPE) with one of the pre-tokenizers gpt-2, phi-2,
/// default, smollm, starcoder, llama-bpe (llama3, llama-v3), qwen2, tekken;
/// kind `llama` (SentencePiece BPE by scores, with byte pieces). Errors:
/// bad_input naming another kind or pre-tokenizer; environment for a
/// vocabulary that contradicts itself.
result<std::shared_ptr<const tokenizer>>
make_gguf_tokenizer(const gguf_vocabulary& file);

} // namespace kvloom::engine
