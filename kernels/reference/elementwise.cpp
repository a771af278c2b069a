#include "kernels/reference/elementwise.hpp"

#include <cmath>
#include <cstddef>

namespace kvloom::kernels {

void rms_norm_reference(std::int64_t width, const double* x,
                        const float* weight, double eps, double* y) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) sum += x[c] * x[c];
  const double norm = std::sqrt(sum / static_cast<double>(width) + eps);
  for (std::int64_t c = 0; c < width; ++c) y[c] = x[c] / norm * weight[c];
}

double swiglu_reference(double gate, double up) {
  return gate / (1 + std::exp(-gate)) * up;
}

void rotate_reference(std::int64_t n_heads, std::int64_t head_dim,
                      double* heads, std::int64_t position,
                      std::span<const double> inv_freq, double magnitude) {
  const std::int64_t half = head_dim / 2;
  for (std::int64_t h = 0; h < n_heads; ++h)
    for (std::int64_t j = 0; j < half; ++j) {
      // The angle is a double by definition; its sine is taken more exactly.
      const long double angle = static_cast<double>(position)
                                * inv_freq[static_cast<std::size_t>(j)];
      const auto cosine = static_cast<double>(std::cos(angle)) * magnitude;
      const auto sine = static_cast<double>(std::sin(angle)) * magnitude;
      double& low = heads[h * head_dim + j];
      double& high = heads[h * head_dim + half + j];
      const double a = low;
      low = a * cosine - high * sine;
      high = high * cosine + a * sine;
    }
}

} // namespace kvloom::kernels
