// The weights of a model in the forms that products want.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/model/model_runner.hpp"
#include "engine/model/projection.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kvloom::engine {

/// Vectors of one layer, in f32; empty where the model has none.
struct layer_vectors {
  std::vector<float> attention_norm, mlp_norm; ///< [hidden]
  std::vector<float> q_norm, k_norm;           ///< [head_dim]
  std::vector<float> qkv_bias;     ///< [(q_heads + 2 kv_heads) * head_dim]
  std::vector<float> o_bias;       ///< [hidden]
  std::vector<float> gate_up_bias; ///< [2 * intermediate]
  std::vector<float> down_bias;    ///< [hidden]
};

/// Matrices of one layer, [out, in].
struct layer_matrices {
  projection qkv; ///< q, k, v stacked
  projection o;
  projection gate_up; ///< gate, up stacked
  projection down;
};

/// Everything that products and norms read. Owns its bytes; immutable.
struct model_weights {
  std::vector<layer_vectors> vectors;    ///< [n_layers]
  std::vector<layer_matrices> prefill;   ///< [n_layers]
  std::vector<layer_matrices> decode;    ///< [n_layers], or empty: prefill's
  projection embedding;                  ///< [vocab, hidden]
  std::optional<projection> head;        ///< absent: the embedding (tied)
  std::optional<projection> decode_head; ///< absent: that of prefill
  std::vector<float> final_norm;         ///< [hidden]

  const projection& prefill_head() const { return head ? *head : embedding; }
  std::int64_t bytes() const; ///< resident, all copies
};

/// `automatic` settled for a checkpoint and a precision; others as they are.
decode_weights settled(decode_weights wanted, const checkpoint& model,
                       precision compute);

/// Converts a checkpoint's weights; `decode` is settled.
/// Errors: bad_input where quantised decode weights are asked of a checkpoint
/// that has none; environment when memory is short.
result<model_weights> prepare_weights(const checkpoint& model,
                                      precision compute, decode_weights decode);

} // namespace kvloom::engine
