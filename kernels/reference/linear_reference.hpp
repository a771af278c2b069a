// Products with weight matrices in float64, as plain loops.
#pragma once

#include "kernels/api/linear.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::kernels::reference {

/// What the activations are rounded to before the product.
enum class activations : std::uint8_t {
  exact,
  bf16, ///< ties to even
  int8  ///< blocks of 32, as multiply_few() says for as_stored
};

/// A product and the sum of the magnitudes of its terms, which bounds what
/// rounding may do to it. Both [n_rows, rows of all parts].
struct linear_result {
  std::vector<double> y, magnitude;
};

/// x [n_rows, columns] times the transpose of the stacked parts, whose values
/// are those of dequantise_row(). With `bf16_weights` these are rounded to
/// bf16.
linear_result multiply(std::span<const matrix_source> parts, bool bf16_weights,
                       activations as, std::int64_t n_rows, const float* x);

/// x rounded as said; columns must be whole blocks of 32 for int8.
std::vector<double> rounded(activations as, std::int64_t n, const float* x);

} // namespace kvloom::kernels::reference
