#include "tests/kernels/cpu/attention_case.hpp"

#include "core/tensor/float_bits.hpp"
#include "kernels/api/elementwise.hpp"
#include "kernels/reference/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kvloom::kernels {

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::int64_t keys_apart(const attention_shape& shape) {
  return shape.n_keys + 3;
}

void put(dtype type, std::byte* to, std::int64_t i, float value) {
  if (type == dtype::f32) {
    std::memcpy(to + i * 4, &value, 4);
    return;
  }
  const std::uint16_t bits
      = type == dtype::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
  std::memcpy(to + i * 2, &bits, 2);
}

} // namespace

std::vector<cpu_path> paths_here() {
  std::vector<cpu_path> out;
  for (const cpu_path path :
       {cpu_path::portable, cpu_path::avx2, cpu_path::avx512, cpu_path::amx})
    if (path <= detected_path()) out.push_back(path);
  return out;
}

attention_case::attention_case(const attention_shape& wanted,
                               std::uint64_t seed)
    : shape(wanted) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  q.resize(static_cast<std::size_t>(shape.n_rows * shape.n_q_heads
                                    * shape.head_dim));
  for (float& x : q) x = normal(bits) * static_cast<float>(shape.score_size);
  const std::int64_t n = shape.n_kv_heads * keys_apart(shape) * shape.head_dim;
  const auto n_bytes = static_cast<std::size_t>(row_bytes(shape.type, n));
  k.resize(n_bytes);
  v.resize(n_bytes);
  for (std::int64_t i = 0; i < n; ++i) {
    put(shape.type, k.data(), i, normal(bits));
    put(shape.type, v.data(), i, normal(bits));
  }
  constexpr std::int64_t first_key = 5;
  for (std::int64_t r = 0; r < shape.n_rows; ++r)
    row_positions.push_back(first_key + shape.first_row + r);
  if (shape.explicit_positions)
    for (std::int64_t j = 0; j < shape.n_keys; ++j)
      key_positions.push_back(first_key + 3 * j);
  // What lies between two heads is nobody's.
  for (std::int64_t h = 0; h < shape.n_kv_heads; ++h)
    for (std::int64_t j = shape.n_keys; j < keys_apart(shape); ++j)
      for (std::int64_t c = 0; c < shape.head_dim; ++c) {
        set_value(true, h, j, c, not_a_number);
        set_value(false, h, j, c, not_a_number);
      }
  if (shape.stale_share == 0) return;
  stale.resize(static_cast<std::size_t>((shape.n_keys + 63) / 64));
  std::bernoulli_distribution is_stale(shape.stale_share);
  for (std::int64_t j = 0; j < shape.n_keys; ++j) {
    if (!is_stale(bits)) continue;
    stale[static_cast<std::size_t>(j / 64)] |= std::uint64_t{1} << (j % 64);
    for (std::int64_t h = 0; h < shape.n_kv_heads; ++h)
      for (std::int64_t c = 0; c < shape.head_dim; ++c) {
        set_value(true, h, j, c, not_a_number);
        set_value(false, h, j, c, not_a_number);
      }
  }
}

attention_params attention_case::params() const {
  attention_params p;
  p.n_rows = shape.n_rows;
  p.n_q_heads = shape.n_q_heads;
  p.n_kv_heads = shape.n_kv_heads;
  p.head_dim = shape.head_dim;
  p.q = q.data();
  p.q_row_stride = shape.n_q_heads * shape.head_dim;
  p.row_positions = row_positions.data();
  p.segment.k = k.data();
  p.segment.v = v.data();
  p.segment.type = shape.type;
  p.segment.head_stride = keys_apart(shape) * shape.head_dim;
  p.segment.n_keys = shape.n_keys;
  p.segment.first_position = 5;
  if (shape.explicit_positions) p.segment.positions = key_positions.data();
  if (!stale.empty()) p.segment.stale = stale.data();
  p.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
  p.window = shape.window;
  return p;
}

void attention_case::set_value(bool key_side, std::int64_t head,
                               std::int64_t key, std::int64_t column,
                               float value) {
  put(shape.type, key_side ? k.data() : v.data(),
      (head * keys_apart(shape) + key) * shape.head_dim + column, value);
}

attention_output attend_case(const attention_params& params) {
  attention_output out;
  // Filled with NaN to show what is not written.
  out.lse.assign(static_cast<std::size_t>(params.n_rows * params.n_q_heads),
                 not_a_number);
  out.o.assign(out.lse.size() * static_cast<std::size_t>(params.head_dim),
               not_a_number);
  attention_params p = params;
  p.o = out.o.data();
  p.lse = out.lse.data();
  attend(p);
  return out;
}

bool uses_tiles(const attention_shape& shape, cpu_path path) {
  return path == cpu_path::amx && shape.type == dtype::bf16
         && shape.head_dim % 32 == 0 && shape.n_rows > 8;
}

void expect_near_reference(const attention_case& problem,
                           const attention_output& out, bool tiles) {
  attention_params p = problem.params();
  std::vector<float> rounded = problem.q;
  if (tiles)
    for (float& x : rounded) x = bf16_to_f32(f32_to_bf16(x));
  p.q = rounded.data();
  std::vector<double> o(out.o.size());
  std::vector<double> lse(out.lse.size());
  attend_reference(p, o.data(), lse.data());

  const double size = problem.shape.score_size;
  double worst_o = 0;
  double worst_lse = 0;
  for (std::size_t i = 0; i < lse.size(); ++i) {
    if (std::isinf(lse[i])) {
      ASSERT_EQ(out.lse[i], -std::numeric_limits<float>::infinity()) << i;
      continue;
    }
    const double error = std::abs(out.lse[i] - lse[i]) / (1 + std::abs(lse[i]));
    ASSERT_FALSE(std::isnan(error)) << "lse " << i;
    worst_lse = std::max(worst_lse, error);
  }
  for (std::size_t i = 0; i < o.size(); ++i) {
    const double error = std::abs(out.o[i] - o[i]);
    ASSERT_FALSE(std::isnan(error)) << "o " << i;
    worst_o = std::max(worst_o, error);
  }
  // The largest of the normal values is below 5.5.
  EXPECT_LE(worst_o, (tiles ? 5.5 / 512 : 0) + 1e-5 * std::max(1.0, size));
  EXPECT_LE(worst_lse, 2e-6);
}

} // namespace kvloom::kernels
