#include "engine/segments/kv_rows.hpp"

#include "kernels/api/elementwise.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <utility>

namespace kvloom::engine {

namespace {

/// Rows of KV worth a task of their own.
constexpr std::int64_t rows_a_task = 32;

} // namespace

result<kv_rows> kv_rows::reserve(std::int64_t n_kv_heads, std::int64_t head_dim,
                                 dtype type, row_positions positions) {
  kv_rows made;
  const auto n = static_cast<std::int64_t>(positions->size());
  auto buffer
      = kv_buffer::allocate(2 * n_kv_heads * n * head_dim * block_bytes(type));
  if (!buffer) return pass_on(buffer);
  made.buffer_ = std::move(*buffer);
  made.positions_ = std::move(positions);
  made.n_kv_heads_ = n_kv_heads;
  made.head_dim_ = head_dim;
  made.type_ = type;
  return made;
}

void kv_rows::write(std::int64_t first, std::int64_t n_rows, const float* k,
                    const float* v, std::int64_t row_stride) {
  const std::int64_t token = head_dim_ * block_bytes(type_);
  const std::int64_t head = size() * token;
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n_rows, rows_a_task),
                    [&](const tbb::blocked_range<std::int64_t>& rows) {
                      for (std::int64_t r = rows.begin(); r < rows.end(); ++r)
                        for (std::int64_t h = 0; h < n_kv_heads_; ++h) {
                          const std::int64_t from
                              = r * row_stride + h * head_dim_;
                          std::byte* to
                              = buffer_.data() + h * head + (first + r) * token;
                          kernels::narrow(head_dim_, k + from, type_, to);
                          kernels::narrow(head_dim_, v + from, type_,
                                          to + n_kv_heads_ * head);
                        }
                    });
}

kernels::kv_segment_view kv_rows::view() const {
  kernels::kv_segment_view seen;
  seen.k = buffer_.data();
  seen.v
      = buffer_.data() + n_kv_heads_ * size() * head_dim_ * block_bytes(type_);
  seen.type = type_;
  seen.head_stride = size() * head_dim_;
  seen.n_keys = size();
  if (size() > 0) {
    seen.first_position = positions_->front();
    seen.positions = positions_->data();
  }
  return seen;
}

} // namespace kvloom::engine
