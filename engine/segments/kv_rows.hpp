// KV rows of one layer at positions of their own: what was computed afresh for
// a request within its context (a patch).
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "kernels/api/attention.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kvloom::engine {

/// Ascending absolute positions, shared by the layers that have the same.
using row_positions = std::shared_ptr<const std::vector<std::int64_t>>;

/// Layout [2][n_kv_heads][n_rows][head_dim], K before V, keys rotated at their
/// absolute positions. Move-only; not thread-safe.
class kv_rows {
public:
  kv_rows() = default; ///< no rows

  /// Errors: environment when memory is short.
  static result<kv_rows> reserve(std::int64_t n_kv_heads, std::int64_t head_dim,
                                 dtype type, row_positions positions);

  std::int64_t size() const {
    return positions_ ? static_cast<std::int64_t>(positions_->size()) : 0;
  }
  const row_positions& positions() const { return positions_; }
  std::int64_t bytes() const { return buffer_.size(); }

  /// Writes rows [first, first + n_rows); k and v are [n_rows, n_kv_heads,
  /// head_dim] with a common row stride in floats.
  void write(std::int64_t first, std::int64_t n_rows, const float* k,
             const float* v, std::int64_t row_stride);

  kernels::kv_segment_view view() const;

private:
  row_positions positions_;
  kv_buffer buffer_;
  std::int64_t n_kv_heads_ = 0, head_dim_ = 0;
  dtype type_ = dtype::f32;
};

} // namespace kvloom::engine
