// The growing KV of one request: every layer's keys and values, in one
// reservation.
#pragma once

#include "core/base/result.hpp"
#include "core/tensor/dtype.hpp"
#include "engine/model/model_config.hpp"
#include "kernels/api/attention.hpp"

#include <cstddef>
#include <cstdint>

namespace kvloom::engine {

/// Layout, per layer: [2][n_kv_heads][capacity][head_dim], K before V. Keys
/// are rotated at their absolute positions 0, 1, ... Pages are taken from the
/// system on first touch and given back on destruction, so dropped requests
/// leave no memory behind. Move-only; not thread-safe.
class kv_tail {
public:
  /// Reserves `capacity` > 0 tokens in elements of `type` (f32 or bf16).
  /// Errors: environment when the machine has not that much memory left.
  static result<kv_tail> reserve(const model_config& model, dtype type,
                                 std::int64_t capacity);

  kv_tail(kv_tail&& other) noexcept;
  kv_tail& operator=(kv_tail&& other) noexcept;
  ~kv_tail();

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t bytes() const { return bytes_; }

  /// Tokens whose KV is complete in all layers.
  void set_length(std::int64_t length) { length_ = length; }

  /// Writes rows [first, first + n_rows) of one layer; k and v are
  /// [n_rows, n_kv_heads, head_dim] with a common row stride in floats.
  void write(std::int64_t layer, std::int64_t first, std::int64_t n_rows,
             const float* k, const float* v, std::int64_t row_stride);

  /// Keys [first, last) of one layer, at positions first...
  kernels::kv_segment_view view(std::int64_t layer, std::int64_t first,
                                std::int64_t last) const;

private:
  kv_tail() = default;

  std::byte* head(std::int64_t layer, std::int64_t k_or_v,
                  std::int64_t kv_head) const;

  std::byte* base_ = nullptr;
  std::int64_t bytes_ = 0;
  dtype type_ = dtype::f32;
  std::int64_t n_kv_heads_ = 0;
  std::int64_t head_dim_ = 0;
  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
};

} // namespace kvloom::engine
