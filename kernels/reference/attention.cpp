#include "kernels/reference/attention.hpp"

#include "core/tensor/float_bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kvloom::kernels {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

double element(dtype type, const void* from, std::int64_t i) {
  if (type == dtype::f32) return static_cast<const float*>(from)[i];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(from)[i];
  return type == dtype::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
}

bool is_visible(const attention_params& p, std::int64_t row, std::int64_t key) {
  const kv_segment_view& s = p.segment;
  if (s.stale != nullptr && (s.stale[key / 64] >> (key % 64) & 1U) != 0)
    return false;
  const std::int64_t position
      = s.positions != nullptr ? s.positions[key] : s.first_position + key;
  const std::int64_t at = p.row_positions[row];
  return position <= at && (p.window == 0 || position > at - p.window);
}

} // namespace

void attend_reference(const attention_params& p, double* o, double* lse) {
  const kv_segment_view& s = p.segment;
  const std::int64_t group = p.n_q_heads / p.n_kv_heads;
  std::vector<double> scores(static_cast<std::size_t>(s.n_keys));
  for (std::int64_t r = 0; r < p.n_rows; ++r)
    for (std::int64_t h = 0; h < p.n_q_heads; ++h) {
      const float* q = p.q + r * p.q_row_stride + h * p.head_dim;
      const std::int64_t head = h / group * s.head_stride;
      double most = nothing;
      for (std::int64_t j = 0; j < s.n_keys; ++j) {
        double& score = scores[static_cast<std::size_t>(j)];
        score = nothing;
        if (!is_visible(p, r, j)) continue;
        score = 0;
        for (std::int64_t c = 0; c < p.head_dim; ++c)
          score
              += double{q[c]} * element(s.type, s.k, head + j * p.head_dim + c);
        score *= p.scale;
        most = std::max(most, score);
      }
      double* const out = o + (r * p.n_q_heads + h) * p.head_dim;
      std::fill_n(out, p.head_dim, 0.0);
      double sum = 0;
      for (std::int64_t j = 0; j < s.n_keys; ++j) {
        const double score = scores[static_cast<std::size_t>(j)];
        if (score == nothing) continue;
        const double weight = std::exp(score - most);
        sum += weight;
        for (std::int64_t c = 0; c < p.head_dim; ++c)
          out[c] += weight * element(s.type, s.v, head + j * p.head_dim + c);
      }
      if (sum != 0)
        for (std::int64_t c = 0; c < p.head_dim; ++c) out[c] /= sum;
      lse[r * p.n_q_heads + h] = sum == 0 ? nothing : most + std::log(sum);
    }
}

void merge_partials_reference(std::int64_t n_rows, std::int64_t n_q_heads,
                              std::int64_t head_dim, double* o_a, double* lse_a,
                              const double* o_b, const double* lse_b) {
  for (std::int64_t i = 0; i < n_rows * n_q_heads; ++i) {
    const double most = std::max(lse_a[i], lse_b[i]);
    if (most == nothing) continue;
    const double lse
        = most
          + std::log(std::exp(lse_a[i] - most) + std::exp(lse_b[i] - most));
    for (std::int64_t c = i * head_dim; c < (i + 1) * head_dim; ++c)
      o_a[c] = std::exp(lse_a[i] - lse) * o_a[c]
               + std::exp(lse_b[i] - lse) * o_b[c];
    lse_a[i] = lse;
  }
}

} // namespace kvloom::kernels
