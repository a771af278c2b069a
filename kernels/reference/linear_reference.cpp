#include "kernels/reference/linear_reference.hpp"

#include "core/tensor/float_bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvloom::kernels::reference {

namespace {

void round_block(const float* x, double* out) {
  constexpr int n = 32;
  float max = 0;
  bool finite = true;
  for (int i = 0; i < n; ++i) {
    finite = finite && std::isfinite(x[i]);
    max = std::max(max, std::fabs(x[i]));
  }
  // The scale and its inverse are f32, as in the product.
  const bool zero = max < 0x1p-100F;
  const float scale = zero ? 0.0F : max / 127.0F;
  const float inverse = zero ? 0.0F : 127.0F / max;
  for (int i = 0; i < n; ++i)
    out[i] = finite ? static_cast<double>(scale)
                          * static_cast<double>(std::nearbyint(x[i] * inverse))
                    : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::vector<double> rounded(activations as, std::int64_t n, const float* x) {
  std::vector<double> out(x, x + n);
  if (as == activations::bf16)
    for (double& value : out)
      value = bf16_to_f32(f32_to_bf16(static_cast<float>(value)));
  if (as == activations::int8)
    for (std::int64_t i = 0; i < n; i += 32) round_block(x + i, out.data() + i);
  return out;
}

linear_result multiply(std::span<const matrix_source> parts, bool bf16_weights,
                       activations as, std::int64_t n_rows, const float* x) {
  linear_result result;
  if (parts.empty()) return result;
  const std::int64_t columns = parts.front().columns;
  std::int64_t rows = 0;
  for (const matrix_source& part : parts) rows += part.rows;
  const std::vector<double> input = rounded(as, n_rows * columns, x);
  result.y.resize(static_cast<std::size_t>(n_rows * rows));
  result.magnitude.resize(result.y.size());
  std::vector<float> w(static_cast<std::size_t>(columns));
  std::int64_t output = 0;
  for (const matrix_source& part : parts)
    for (std::int64_t r = 0; r < part.rows; ++r, ++output) {
      dequantise_row(part.type, part.bytes + r * row_bytes(part.type, columns),
                     columns, w.data());
      if (bf16_weights)
        for (float& value : w) value = bf16_to_f32(f32_to_bf16(value));
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const double* a = input.data() + row * columns;
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const double term = a[c] * static_cast<double>(w[c]);
          sum += term;
          magnitude += std::fabs(term);
        }
        const auto at = static_cast<std::size_t>(row * rows + output);
        result.y[at] = sum;
        result.magnitude[at] = magnitude;
      }
    }
  return result;
}

} // namespace kvloom::kernels::reference
