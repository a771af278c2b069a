// The growing KV of one request: every layer's keys and values, in one
// reservation.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "core/tensor/dtype.hpp"
#include "engine/model/model_config.hpp"
#include "kernels/api/attention.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kvloom::engine {

/// Layout, per layer: [2][n_kv_heads][capacity][head_dim], K before V. Keys
/// are rotated at their absolute positions first_position, ... Pages are taken
/// from the system on first touch and given back on destruction, so dropped
/// requests leave no memory behind. Move-only; not thread-safe.
class kv_tail {
public:
  kv_tail() = default; ///< no capacity

  /// Reserves `capacity` > 0 tokens in elements of `type` (f32 or bf16).
  /// Errors: environment when the machine has not that much memory left.
  static result<kv_tail> reserve(const model_config& model, dtype type,
                                 std::int64_t capacity,
                                 std::int64_t first_position = 0);

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t bytes() const { return buffer_.size(); }
  std::int64_t first_position() const { return first_position_; }
  /// Where the next token goes.
  std::int64_t next_position() const { return first_position_ + length_; }

  /// Tokens whose KV is complete in all layers.
  void set_length(std::int64_t length) { length_ = length; }

  /// Gives the bytes away, as a chunk's payload if the capacity was the number
  /// of its tokens; nothing is left here.
  kv_buffer release() { return std::move(buffer_); }

  /// Writes rows [first, first + n_rows) of one layer; k and v are
  /// [n_rows, n_kv_heads, head_dim] with a common row stride in floats.
  void write(std::int64_t layer, std::int64_t first, std::int64_t n_rows,
             const float* k, const float* v, std::int64_t row_stride);

  /// Rows [first, last) of one layer, at positions first_position + first...
  kernels::kv_segment_view view(std::int64_t layer, std::int64_t first,
                                std::int64_t last) const;

private:
  std::byte* head(std::int64_t layer, std::int64_t k_or_v,
                  std::int64_t kv_head) const;

  kv_buffer buffer_;
  dtype type_ = dtype::f32;
  std::int64_t n_kv_heads_ = 0;
  std::int64_t head_dim_ = 0;
  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
  std::int64_t first_position_ = 0;
};

} // namespace kvloom::engine
