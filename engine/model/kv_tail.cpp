#include "engine/model/kv_tail.hpp"

#include "kernels/api/elementwise.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <utility>

namespace kvloom::engine {

namespace {

/// Rows of KV worth a task of their own.
constexpr std::int64_t rows_a_task = 32;

} // namespace

result<kv_tail> kv_tail::reserve(const model_config& model, dtype type,
                                 std::int64_t capacity,
                                 std::int64_t first_position) {
  kv_tail made;
  made.type_ = type;
  made.n_kv_heads_ = model.n_kv_heads;
  made.head_dim_ = model.head_dim;
  made.capacity_ = capacity;
  made.first_position_ = first_position;
  auto buffer = kv_buffer::allocate(
      capacity * model.kv_bytes_per_token(block_bytes(type)));
  if (!buffer) return pass_on(buffer);
  made.buffer_ = std::move(*buffer);
  return made;
}

std::byte* kv_tail::head(std::int64_t layer, std::int64_t k_or_v,
                         std::int64_t kv_head) const {
  const std::int64_t index = (layer * 2 + k_or_v) * n_kv_heads_ + kv_head;
  return buffer_.data() + index * capacity_ * head_dim_ * block_bytes(type_);
}

void kv_tail::write(std::int64_t layer, std::int64_t first, std::int64_t n_rows,
                    const float* k, const float* v, std::int64_t row_stride) {
  const std::int64_t token_bytes = head_dim_ * block_bytes(type_);
  const auto write_row = [&](std::int64_t r) {
    for (std::int64_t h = 0; h < n_kv_heads_; ++h) {
      const std::int64_t from = r * row_stride + h * head_dim_;
      const std::int64_t to = (first + r) * token_bytes;
      kernels::narrow(head_dim_, k + from, type_, head(layer, 0, h) + to);
      kernels::narrow(head_dim_, v + from, type_, head(layer, 1, h) + to);
    }
  };
  if (n_rows < 2 * rows_a_task) {
    for (std::int64_t r = 0; r < n_rows; ++r) write_row(r);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n_rows, rows_a_task),
                    [&](const tbb::blocked_range<std::int64_t>& rows) {
                      for (std::int64_t r = rows.begin(); r < rows.end(); ++r)
                        write_row(r);
                    });
}

kernels::kv_segment_view kv_tail::view(std::int64_t layer, std::int64_t first,
                                       std::int64_t last) const {
  const std::int64_t skip = first * head_dim_ * block_bytes(type_);
  kernels::kv_segment_view seen;
  seen.k = head(layer, 0, 0) + skip;
  seen.v = head(layer, 1, 0) + skip;
  seen.type = type_;
  seen.head_stride = capacity_ * head_dim_;
  seen.n_keys = last - first;
  seen.first_position = first_position_ + first;
  return seen;
}

} // namespace kvloom::engine
