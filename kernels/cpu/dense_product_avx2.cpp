#include "kernels/cpu/linear_kernels.hpp"

#include <immintrin.h>

#include <cstring>

namespace kvloom::kernels::avx2 {

namespace {

// Elements that the weight stream is read ahead.
constexpr std::int64_t read_ahead = 1024;

// A step takes 8 columns as f32.
constexpr std::int64_t width = 8;

__m256 load(const float* at) {
  return _mm256_loadu_ps(at);
}

__m256 load(const std::uint16_t* at) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

template <class Element>
__m256 load_part(const Element* at, std::int64_t n) {
  Element part[width] = {};
  std::memcpy(part, at, static_cast<std::size_t>(n) * sizeof(Element));
  return load(part);
}

float sum_of(__m256 a) {
  __m128 sum
      = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  sum = _mm_add_ss(sum, _mm_movehdup_ps(sum));
  return _mm_cvtss_f32(sum);
}

/// O outputs times R activation rows; every sum runs over the columns in the
/// same order whatever O and R.
template <class Element, int O, int R>
void tile(const dense_product& p, std::int64_t output, std::int64_t row) {
  const auto* w = static_cast<const Element*>(p.w) + output * p.columns;
  const auto* x = static_cast<const Element*>(p.x) + row * p.columns;
  __m256 sums[O][R];
  for (auto& output_sums : sums)
    for (__m256& sum : output_sums) sum = _mm256_setzero_ps();
  std::int64_t c = 0;
  for (; c + width <= p.columns; c += width) {
    __m256 rows[R];
    for (int r = 0; r < R; ++r) rows[r] = load(x + r * p.columns + c);
    for (int o = 0; o < O; ++o) {
      const auto* at = w + o * p.columns + c;
      _mm_prefetch(reinterpret_cast<const char*>(at + read_ahead), _MM_HINT_T0);
      const __m256 weights = load(at);
      for (int r = 0; r < R; ++r)
        sums[o][r] = _mm256_fmadd_ps(weights, rows[r], sums[o][r]);
    }
  }
  if (const std::int64_t left = p.columns - c; left > 0)
    for (int o = 0; o < O; ++o)
      for (int r = 0; r < R; ++r)
        sums[o][r] = _mm256_fmadd_ps(load_part(w + o * p.columns + c, left),
                                     load_part(x + r * p.columns + c, left),
                                     sums[o][r]);
  for (int o = 0; o < O; ++o)
    for (int r = 0; r < R; ++r)
      p.y[(row + r) * p.y_stride + output + o] = sum_of(sums[o][r]);
}

template <class Element, int O>
void outputs_tile(const dense_product& p, std::int64_t output) {
  std::int64_t row = 0;
  for (; row + 2 <= p.n_rows; row += 2) tile<Element, O, 2>(p, output, row);
  for (; row < p.n_rows; ++row) tile<Element, O, 1>(p, output, row);
}

template <class Element>
void multiply(const dense_product& p) {
  std::int64_t output = 0;
  for (; output + 4 <= p.n_outputs; output += 4)
    outputs_tile<Element, 4>(p, output);
  for (; output < p.n_outputs; ++output) outputs_tile<Element, 1>(p, output);
}

} // namespace

void multiply_f32(const dense_product& p) {
  multiply<float>(p);
}

void multiply_bf16(const dense_product& p) {
  multiply<std::uint16_t>(p);
}

} // namespace kvloom::kernels::avx2
