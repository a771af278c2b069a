#include "engine/segments/dense_kv.hpp"

#include "kernels/api/elementwise.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kvloom::engine {

namespace {

/// Widens one segment into rows of [n_kv_heads, head_dim]; row(j) is where the
/// row of key j goes, or null.
template <class Row>
void widen_segment(const placed_segment& segment, std::int64_t n_kv_heads,
                   std::int64_t head_dim, const rotation& turn,
                   const Row& row) {
  const auto& keys = segment.keys;
  const std::int64_t bytes = block_bytes(keys.type);
  for (std::int64_t j = 0; j < keys.n_keys; ++j) {
    const auto [k, v] = row(j);
    if (k == nullptr) continue;
    for (std::int64_t h = 0; h < n_kv_heads; ++h) {
      const std::int64_t at = (h * keys.head_stride + j * head_dim) * bytes;
      kernels::widen(head_dim, keys.type,
                     static_cast<const std::byte*>(keys.k) + at,
                     k + h * head_dim);
      kernels::widen(head_dim, keys.type,
                     static_cast<const std::byte*>(keys.v) + at,
                     v + h * head_dim);
    }
    if (segment.shift != 0)
      kernels::rotate(1, n_kv_heads, head_dim, k, n_kv_heads * head_dim,
                      &segment.shift, turn.inverse_frequencies);
  }
}

} // namespace

dense_kv read_dense(const request_kv& kv, std::int64_t layer,
                    std::int64_t first, std::int64_t last,
                    std::int64_t n_kv_heads, std::int64_t head_dim,
                    const rotation& turn) {
  const std::int64_t width = n_kv_heads * head_dim;
  dense_kv out;
  out.k.resize(static_cast<std::size_t>((last - first) * width));
  out.v.resize(out.k.size());
  std::vector<placed_segment> segments;
  kv.segments(layer, 0, kv.tail().length(), segments);
  for (const auto& segment : segments) {
    const auto& keys = segment.keys;
    widen_segment(segment, n_kv_heads, head_dim, turn, [&](std::int64_t j) {
      const std::int64_t p = keys.positions != nullptr
                                 ? keys.positions[j]
                                 : keys.first_position + j;
      const bool stale
          = keys.stale != nullptr
            && ((keys.stale[j / 64] >> static_cast<unsigned>(j % 64)) & 1U)
                   != 0;
      if (stale || p < first || p >= last)
        return std::pair<float*, float*>(nullptr, nullptr);
      const std::int64_t at = (p - first) * width;
      return std::pair<float*, float*>(out.k.data() + at, out.v.data() + at);
    });
  }
  return out;
}

dense_kv read_dense(const placed_chunk& placed, std::int64_t layer,
                    const rotation& turn, bool move_keys) {
  const auto& shape = placed.chunk->shape();
  const std::int64_t width = shape.n_kv_heads * shape.head_dim;
  dense_kv out;
  out.k.resize(static_cast<std::size_t>(shape.n_tokens * width));
  out.v.resize(out.k.size());
  auto segment = segment_of(placed, layer);
  if (!move_keys) segment.shift = 0;
  widen_segment(segment, shape.n_kv_heads, shape.head_dim, turn,
                [&](std::int64_t j) {
                  return std::pair<float*, float*>(out.k.data() + j * width,
                                                   out.v.data() + j * width);
                });
  return out;
}

} // namespace kvloom::engine
