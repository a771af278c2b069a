// The shape of stored KV, shared by storage, engine and actors.
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstdint>

namespace kvloom {

/// Layout `layer_major_v1`: [n_layers][2][n_kv_heads][n_tokens][head_dim], K
/// before V, row-major, without gaps: a layer is one contiguous range.
struct kv_shape {
  std::int64_t n_layers = 0, n_kv_heads = 0, n_tokens = 0, head_dim = 0;
  dtype type = dtype::bf16; ///< f32, f16 or bf16

  /// Bytes of K (or V) of one KV head of one layer.
  constexpr std::int64_t head_bytes() const {
    return n_tokens * head_dim * block_bytes(type);
  }
  constexpr std::int64_t layer_bytes() const {
    return 2 * n_kv_heads * head_bytes();
  }
  constexpr std::int64_t bytes() const { return n_layers * layer_bytes(); }

  bool operator==(const kv_shape&) const = default;
};

inline constexpr const char* kv_layout_id = "layer_major_v1";

} // namespace kvloom
