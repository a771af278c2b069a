// Row-wise arithmetic in float64 and plain loops: what the kernels are tested
// against. Arguments as in kernels/api/elementwise.hpp, results in double.
#pragma once

#include <cstdint>
#include <span>

namespace kvloom::kernels {

/// One row.
void rms_norm_reference(std::int64_t width, const double* x,
                        const float* weight, double eps, double* y);

/// silu(gate) * up.
double swiglu_reference(double gate, double up);

/// One row of heads, in place.
void rotate_reference(std::int64_t n_heads, std::int64_t head_dim,
                      double* heads, std::int64_t position,
                      std::span<const double> inv_freq, double magnitude = 1);

} // namespace kvloom::kernels
