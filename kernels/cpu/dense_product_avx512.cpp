#include "kernels/cpu/linear_kernels.hpp"

#include <immintrin.h>

namespace kvloom::kernels::avx512 {

namespace {

constexpr std::int64_t read_ahead = 1024;

/// 16 columns of f32 a step.
struct f32_lanes {
  using element = float;
  using vector = __m512;
  static constexpr std::int64_t width = 16;

  static vector load(const element* at) { return _mm512_loadu_ps(at); }

  static vector load_part(const element* at, std::int64_t n) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1U), at);
  }

  static __m512 add_product(__m512 sum, vector a, vector b) {
    return _mm512_fmadd_ps(a, b, sum);
  }
};

/// 32 columns of bf16 a step, added in pairs.
struct bf16_lanes {
  using element = std::uint16_t;
  using vector = __m512bh;
  static constexpr std::int64_t width = 32;

  static vector load(const element* at) {
    return reinterpret_cast<vector>(_mm512_loadu_si512(at));
  }

  static vector load_part(const element* at, std::int64_t n) {
    return reinterpret_cast<vector>(_mm512_maskz_loadu_epi16(
        static_cast<__mmask32>((std::uint64_t{1} << n) - 1U), at));
  }

  static __m512 add_product(__m512 sum, vector a, vector b) {
    return _mm512_dpbf16_ps(sum, a, b);
  }
};

/// O outputs times R activation rows; every sum runs over the columns in the
/// same order whatever O and R.
template <class Lanes, int O, int R>
void tile(const dense_product& p, std::int64_t output, std::int64_t row) {
  using element = typename Lanes::element;
  const auto* w = static_cast<const element*>(p.w) + output * p.columns;
  const auto* x = static_cast<const element*>(p.x) + row * p.columns;
  __m512 sums[O][R];
  for (auto& output_sums : sums)
    for (__m512& sum : output_sums) sum = _mm512_setzero_ps();
  std::int64_t c = 0;
  for (; c + Lanes::width <= p.columns; c += Lanes::width) {
    typename Lanes::vector rows[R];
    for (int r = 0; r < R; ++r) rows[r] = Lanes::load(x + r * p.columns + c);
    for (int o = 0; o < O; ++o) {
      const auto* at = w + o * p.columns + c;
      _mm_prefetch(at + read_ahead, _MM_HINT_T0);
      const auto weights = Lanes::load(at);
      for (int r = 0; r < R; ++r)
        sums[o][r] = Lanes::add_product(sums[o][r], weights, rows[r]);
    }
  }
  if (const std::int64_t left = p.columns - c; left > 0)
    for (int o = 0; o < O; ++o)
      for (int r = 0; r < R; ++r)
        sums[o][r] = Lanes::add_product(
            sums[o][r], Lanes::load_part(w + o * p.columns + c, left),
            Lanes::load_part(x + r * p.columns + c, left));
  for (int o = 0; o < O; ++o)
    for (int r = 0; r < R; ++r)
      p.y[(row + r) * p.y_stride + output + o]
          = _mm512_reduce_add_ps(sums[o][r]);
}

template <class Lanes, int O>
void outputs_tile(const dense_product& p, std::int64_t output) {
  std::int64_t row = 0;
  for (; row + 4 <= p.n_rows; row += 4) tile<Lanes, O, 4>(p, output, row);
  for (; row + 2 <= p.n_rows; row += 2) tile<Lanes, O, 2>(p, output, row);
  for (; row < p.n_rows; ++row) tile<Lanes, O, 1>(p, output, row);
}

template <class Lanes>
void multiply(const dense_product& p) {
  std::int64_t output = 0;
  for (; output + 4 <= p.n_outputs; output += 4)
    outputs_tile<Lanes, 4>(p, output);
  for (; output < p.n_outputs; ++output) outputs_tile<Lanes, 1>(p, output);
}

} // namespace

void multiply_f32(const dense_product& p) {
  multiply<f32_lanes>(p);
}

void multiply_bf16(const dense_product& p) {
  multiply<bf16_lanes>(p);
}

} // namespace kvloom::kernels::avx512
