// Row-wise arithmetic: norms, rotation, activation, conversions.
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstdint>
#include <span>

namespace kvloom::kernels {

/// y = x / sqrt(mean(x^2) + eps) * weight, by row (Zhang and Sennrich 2019).
/// x, y [n_rows, width] with strides in floats; y may be x.
void rms_norm(std::int64_t n_rows, std::int64_t width, const float* x,
              std::int64_t x_stride, const float* weight, float eps, float* y,
              std::int64_t y_stride);

/// residual += delta, then y = rms_norm(residual). [n_rows, width], dense.
void add_rms_norm(std::int64_t n_rows, std::int64_t width, float* residual,
                  const float* delta, const float* weight, float eps, float* y);

/// a = silu(gate) * up; gate and up [n_rows, width] with a common row stride.
void swiglu(std::int64_t n_rows, std::int64_t width, const float* gate,
            const float* up, std::int64_t in_stride, float* a);

/// Rotates heads in place: the pair (x_j, x_{j+D/2}) of every head by the
/// angle position * inv_freq[j], times `magnitude` (yarn). Angles, sines and
/// cosines are computed in double and rounded once, so positions above 2^24
/// are exact to f32. heads [n_rows, n_heads, head_dim], row stride in floats;
/// positions [n_rows], may be negative (a shift).
/// Su et al. 2021 (RoFormer), `half` layout.
void rotate(std::int64_t n_rows, std::int64_t n_heads, std::int64_t head_dim,
            float* heads, std::int64_t row_stride,
            const std::int64_t* positions, std::span<const double> inv_freq,
            double magnitude = 1);

/// f32 to `type` (f32, bf16 or f16), round to nearest even, and back.
void narrow(std::int64_t n, const float* from, dtype type, void* to);
void widen(std::int64_t n, dtype type, const void* from, float* to);

} // namespace kvloom::kernels
