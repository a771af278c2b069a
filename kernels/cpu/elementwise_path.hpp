// Row-wise arithmetic as the instruction-set paths compute it, on one thread.
#pragma once

#include <cstdint>

namespace kvloom::kernels {

/// Functions of one path, with the arguments of kernels/api/elementwise.hpp.
struct elementwise_path {
  /// One row; `delta` (or null) is added to x first, the sum stored in x.
  void (*rms_norm_row)(std::int64_t width, float* x, const float* delta,
                       const float* weight, float eps, float* y);
  /// One row.
  void (*swiglu_row)(std::int64_t width, const float* gate, const float* up,
                     float* a);
  /// cosines and sines [n] of position * inv_freq[j], times magnitude.
  void (*angles)(std::int64_t n, double position, const double* inv_freq,
                 double magnitude, float* cosines, float* sines);
  /// One row of heads.
  void (*rotate_row)(std::int64_t n_heads, std::int64_t head_dim, float* heads,
                     const float* cosines, const float* sines);
  void (*to_bf16)(std::int64_t n, const float* from, std::uint16_t* to);
  void (*to_f16)(std::int64_t n, const float* from, std::uint16_t* to);
  void (*from_bf16)(std::int64_t n, const std::uint16_t* from, float* to);
  void (*from_f16)(std::int64_t n, const std::uint16_t* from, float* to);
  /// e^b of the other partial joins (o_a, lse_a): merge_partials() of one head.
  void (*merge_head)(std::int64_t head_dim, float* o_a, float* lse_a,
                     const float* o_b, float lse_b);
};

elementwise_path elementwise_portable();
elementwise_path elementwise_avx2();
elementwise_path elementwise_avx512();

/// Of active_path().
elementwise_path active_elementwise();

} // namespace kvloom::kernels
