#include "core/base/random.hpp"
#include "engine/model/segment_attention.hpp"
#include "kernels/api/elementwise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace kvloom::engine {
namespace {

constexpr std::int64_t n_q_heads = 6;
constexpr std::int64_t n_kv_heads = 2;
constexpr std::int64_t head_dim = 32;

rotation turn() {
  rotation made;
  for (std::int64_t j = 0; j < head_dim / 2; ++j)
    made.inverse_frequencies.push_back(
        std::pow(10000.0, -2.0 * static_cast<double>(j)
                              / static_cast<double>(head_dim)));
  return made;
}

std::vector<float> normals(std::size_t n, const char* name) {
  random_stream draw(5, name);
  std::vector<float> out(n);
  for (float& one : out) one = static_cast<float>(draw.normal());
  return out;
}

/// Keys and values [n_kv_heads, n_keys, head_dim], keys rotated from `first`.
struct stored {
  std::vector<float> k, v;
  std::int64_t n_keys = 0;
};

stored cut(const std::vector<float>& k, const std::vector<float>& v,
           std::int64_t n_all, std::int64_t first, std::int64_t n,
           std::int64_t rotated_from) {
  stored out;
  out.n_keys = n;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(n));
  std::iota(positions.begin(), positions.end(), rotated_from);
  for (std::int64_t h = 0; h < n_kv_heads; ++h) {
    const auto begin = (h * n_all + first) * head_dim;
    out.k.insert(out.k.end(), k.begin() + begin,
                 k.begin() + begin + n * head_dim);
    out.v.insert(out.v.end(), v.begin() + begin,
                 v.begin() + begin + n * head_dim);
    kernels::rotate(n, 1, head_dim, out.k.data() + h * n * head_dim, head_dim,
                    positions.data(), turn().inverse_frequencies);
  }
  return out;
}

placed_segment placed(const stored& from, std::int64_t first_position,
                      std::int64_t shift) {
  placed_segment to;
  to.keys = {from.k.data(), from.v.data(),  dtype::f32, from.n_keys * head_dim,
             from.n_keys,   first_position, nullptr,    nullptr};
  to.shift = shift;
  return to;
}

// The property that sharing chunks rests on: any split into segments, each
// rotated at its own local positions, equals one dense attention.
TEST(segment_attention, any_split_equals_one_dense_segment) {
  const std::int64_t n_keys = 90;
  const std::int64_t n_rows = 5;
  const auto k = normals(n_kv_heads * n_keys * head_dim, "k");
  const auto v = normals(n_kv_heads * n_keys * head_dim, "v");
  const std::int64_t stride = n_q_heads * head_dim + 7;
  auto q = normals(static_cast<std::size_t>(n_rows * stride), "q");
  std::vector<std::int64_t> positions = {0, 20, 60, 88, 89};
  kernels::rotate(n_rows, n_q_heads, head_dim, q.data(), stride,
                  positions.data(), turn().inverse_frequencies);
  const auto attended
      = [&](const std::vector<placed_segment>& segments, std::int64_t window) {
          std::vector<float> o(n_rows * n_q_heads * head_dim);
          std::vector<float> lse(n_rows * n_q_heads);
          kernels::attention_params rows;
          rows.n_rows = n_rows;
          rows.n_q_heads = n_q_heads;
          rows.n_kv_heads = n_kv_heads;
          rows.head_dim = head_dim;
          rows.q = q.data();
          rows.q_row_stride = stride;
          rows.row_positions = positions.data();
          rows.scale = 0.25F;
          rows.window = window;
          rows.o = o.data();
          rows.lse = lse.data();
          segment_scratch scratch;
          attend_segments(rows, segments, turn(), scratch);
          o.insert(o.end(), lse.begin(), lse.end());
          return o;
        };
  const stored whole = cut(k, v, n_keys, 0, n_keys, 0);
  // Pieces at local positions 0..., 3... and at their own absolute ones.
  const stored a = cut(k, v, n_keys, 0, 30, 0);
  const stored b = cut(k, v, n_keys, 30, 25, 0);
  const stored c = cut(k, v, n_keys, 55, 1, 3);
  const stored d = cut(k, v, n_keys, 56, 34, 56);
  const std::vector<placed_segment> split = {
      placed(a, 0, 0), placed(b, 30, 30), placed(c, 55, 52), placed(d, 56, 0)};
  const std::vector<placed_segment> reordered
      = {split[2], split[3], split[0], split[1]};
  for (const std::int64_t window : {0, 16}) {
    const auto expected = attended({placed(whole, 0, 0)}, window);
    for (const auto& segments : {split, reordered}) {
      const auto got = attended(segments, window);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 2e-5) << i << " window " << window;
    }
  }
}

TEST(segment_attention, no_segments_are_no_output) {
  std::vector<float> q(n_q_heads * head_dim, 1.0F);
  std::vector<float> o(n_q_heads * head_dim, 7.0F);
  std::vector<float> lse(n_q_heads, 7.0F);
  kernels::attention_params rows;
  rows.n_rows = 1;
  rows.n_q_heads = n_q_heads;
  rows.n_kv_heads = n_kv_heads;
  rows.head_dim = head_dim;
  rows.q = q.data();
  rows.o = o.data();
  rows.lse = lse.data();
  segment_scratch scratch;
  attend_segments(rows, {}, turn(), scratch);
  for (const float one : o) EXPECT_EQ(one, 0);
  for (const float one : lse) EXPECT_EQ(one, -INFINITY);
}

} // namespace
} // namespace kvloom::engine
