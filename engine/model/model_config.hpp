// What a checkpoint says of its architecture: every number that changes the
// arithmetic of the Llama family.
#pragma once

#include "core/record/question.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::engine {

enum class model_family : std::uint8_t { llama, mistral, qwen2, qwen3 };

/// Rotary position embedding; frequencies that do not depend on the length.
/// Formulas: Hugging Face `modeling_rope_utils`, transformers 4/5.
struct rope_config {
  enum class scheme : std::uint8_t { plain, linear, llama3, yarn };
  scheme kind = scheme::plain;
  double theta = 10000;
  double factor = 1;                 ///< linear, llama3, yarn
  double low_freq_factor = 1;        ///< llama3
  double high_freq_factor = 4;       ///< llama3
  std::int64_t original_context = 0; ///< llama3, yarn; tokens
  double beta_fast = 32;             ///< yarn
  double beta_slow = 1;              ///< yarn
  bool truncate = true; ///< yarn: ramp borders rounded to whole dimensions
  /// yarn: magnitude on q and k; absent means the rule 0.1 ln(factor) + 1
  /// (or by mscale, mscale_all_dim).
  std::optional<double> attention_factor;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  /// GGUF `rope_freqs.weight`: factors that divide the plain frequencies,
  /// [head_dim / 2]; empty where the file has none.
  std::vector<float> freq_divisors;
};

struct model_config {
  model_family family = model_family::llama;
  std::int64_t n_layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t n_q_heads = 0;
  std::int64_t n_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  /// Rows of the embedding; may be more than the tokenizer's ids (padding).
  std::int64_t vocab_size = 0;
  double rms_norm_eps = 0;
  rope_config rope;
  std::int64_t context_length = 0; ///< largest number of positions
  /// Sliding window by layer, tokens; a query sees itself and window-1 before
  /// it; 0 means full attention. [n_layers]
  std::vector<std::int64_t> window;
  bool tied_head = false; ///< logits through the embedding
  bool qk_norm = false;   ///< RMSNorm over head_dim on q and k (Qwen3)
  std::optional<token_id> bos;
  std::vector<token_id> eos; ///< ids that end an answer

  std::int64_t group_size() const { return n_q_heads / n_kv_heads; }
  /// KV bytes of one token: 2 * layers * kv_heads * head_dim * bytes.
  std::int64_t kv_bytes_per_token(std::int64_t element_bytes) const {
    return 2 * n_layers * n_kv_heads * head_dim * element_bytes;
  }
};

const char* to_string(model_family family);

} // namespace kvloom::engine
