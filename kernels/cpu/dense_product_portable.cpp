#include "core/tensor/float_bits.hpp"
#include "kernels/cpu/linear_kernels.hpp"

namespace kvloom::kernels::portable {

namespace {

// Partial sums of a value: enough for any vector the compiler may use.
constexpr std::int64_t width = 16;

float widen(float value) {
  return value;
}

float widen(std::uint16_t bits) {
  return bf16_to_f32(bits);
}

template <class Element>
float dot(const Element* w, const Element* x, std::int64_t columns) {
  float sums[width] = {};
  std::int64_t c = 0;
  for (; c + width <= columns; c += width)
    for (std::int64_t j = 0; j < width; ++j)
      sums[j] += widen(w[c + j]) * widen(x[c + j]);
  for (std::int64_t j = 0; c + j < columns; ++j)
    sums[j] += widen(w[c + j]) * widen(x[c + j]);
  for (std::int64_t half = width / 2; half > 0; half /= 2)
    for (std::int64_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  return sums[0];
}

template <class Element>
void multiply(const dense_product& p) {
  const auto* w = static_cast<const Element*>(p.w);
  const auto* x = static_cast<const Element*>(p.x);
  for (std::int64_t o = 0; o < p.n_outputs; ++o)
    for (std::int64_t r = 0; r < p.n_rows; ++r)
      p.y[r * p.y_stride + o]
          = dot(w + o * p.columns, x + r * p.columns, p.columns);
}

} // namespace

void multiply_f32(const dense_product& p) {
  multiply<float>(p);
}

void multiply_bf16(const dense_product& p) {
  multiply<std::uint16_t>(p);
}

} // namespace kvloom::kernels::portable
