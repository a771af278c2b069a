#include "kernels/cpu/linear_kernels.hpp"

#include <immintrin.h>

#include <cstring>

namespace kvloom::kernels::avx512 {

namespace {

// Bytes that the weight stream is read ahead.
constexpr std::int64_t read_ahead = 4096;

__m512 halves(const std::byte* at) {
  return _mm512_cvtph_ps(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

__m512 signed_bytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

__m512 unsigned_bytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

__m512i load(const std::byte* at) {
  return _mm512_loadu_si512(at);
}

/// Bytes of group G of a run, without sign.
template <dtype T, int G>
__m512i group(const std::byte* quants) {
  if constexpr (T == dtype::q8_0) return load(quants + G * 64);
  const __m512i nibble = _mm512_set1_epi8(0x0f);
  __m512i low = load(quants + G / 2 * 64);
  if constexpr (G % 2 == 1) low = _mm512_srli_epi16(low, 4);
  low = _mm512_and_si512(low, nibble);
  if constexpr (T == dtype::q6_k) {
    __m512i high = load(quants + 256 + G / 4 * 64);
    if constexpr (G % 4 == 0) high = _mm512_slli_epi16(high, 4);
    if constexpr (G % 4 == 1) high = _mm512_slli_epi16(high, 2);
    if constexpr (G % 4 == 3) high = _mm512_srli_epi16(high, 2);
    // low | (high & 0x30)
    low = _mm512_ternarylogic_epi32(low, high, _mm512_set1_epi8(0x30), 0xf8);
  }
  return low;
}

__m512i four_values(const std::int8_t* at) {
  std::int32_t four = 0;
  std::memcpy(&four, at, sizeof four);
  return _mm512_set1_epi32(four);
}

/// sums[r] += the dot product of groups G.. of the run with row r.
template <dtype T, int R, int G, int End>
[[gnu::always_inline]] inline void dot_groups(const std::byte* quants,
                                              const std::int8_t* const (&x)[R],
                                              __m512i (&sums)[R]) {
  if constexpr (G < End) {
    const __m512i w = group<T, G>(quants);
    for (int r = 0; r < R; ++r)
      sums[r] = _mm512_dpbusd_epi32(sums[r], w, four_values(x[r] + G * 4));
    dot_groups<T, R, G + 1, End>(quants, x, sums);
  }
}

/// What the stored integers exceed the true ones by.
template <dtype T>
constexpr int excess() {
  if constexpr (T == dtype::q8_0) return 128;
  if constexpr (T == dtype::q4_0) return 8;
  if constexpr (T == dtype::q6_k) return 32;
  return 0;
}

/// One panel times rows [row, row + R).
template <dtype T, int R>
void panel_rows_product(const panel_product& p, const std::byte* panel,
                        std::int64_t row, __mmask16 outputs, float* y) {
  const std::int64_t n_runs = p.layout.n_runs;
  const std::byte* quants = panel;
  const std::byte* scales = panel + p.layout.scales_at;
  const std::byte* supers = panel + p.layout.supers_at;
  const std::int8_t* x[R];
  const float* x_scales[R];
  const std::int32_t* x_sums[R];
  __m512 total[R];
  for (int r = 0; r < R; ++r) {
    x[r] = p.x.values + (row + r) * n_runs * run_columns;
    x_scales[r] = p.x.scales + (row + r) * n_runs;
    x_sums[r] = p.x.sums + (row + r) * n_runs * 2;
    total[r] = _mm512_setzero_ps();
  }
  constexpr int quant_bytes
      = T == dtype::q8_0 ? 512 : (T == dtype::q6_k ? 384 : 256);
  constexpr int scale_bytes = T == dtype::q4_1 ? 64 : 32;
  constexpr bool has_minimum = T == dtype::q4_1 || T == dtype::q4_k;
  for (std::int64_t run = 0; run < n_runs; ++run) {
    for (int line = 0; line < quant_bytes; line += 64)
      _mm_prefetch(quants + read_ahead + line, _MM_HINT_T0);
    _mm_prefetch(scales + read_ahead, _MM_HINT_T0);

    // Factor of the integers and, as the type has it, the minimum; q6_k has a
    // factor for each half of the run.
    __m512 factor;
    __m512 second = _mm512_setzero_ps();
    if constexpr (T == dtype::q4_k) {
      factor = _mm512_mul_ps(halves(supers), unsigned_bytes(scales));
      second = _mm512_mul_ps(halves(supers + 32), unsigned_bytes(scales + 16));
    } else if constexpr (T == dtype::q6_k) {
      factor = _mm512_mul_ps(halves(supers), signed_bytes(scales));
      second = _mm512_mul_ps(halves(supers), signed_bytes(scales + 16));
    } else {
      factor = halves(scales);
      if constexpr (T == dtype::q4_1) second = halves(scales + 32);
    }

    __m512i low[R];
    __m512i high[R];
    for (int r = 0; r < R; ++r) {
      low[r] = _mm512_set1_epi32(-excess<T>() * x_sums[r][2 * run]);
      high[r] = _mm512_set1_epi32(-excess<T>() * x_sums[r][2 * run + 1]);
      if constexpr (has_minimum) low[r] = high[r] = _mm512_setzero_si512();
    }
    dot_groups<T, R, 0, 4>(quants, x, low);
    if constexpr (R > 2 && T != dtype::q6_k) {
      // One chain a row is enough to fill the pipe and saves registers.
      for (int r = 0; r < R; ++r) low[r] = _mm512_add_epi32(low[r], high[r]);
      dot_groups<T, R, 4, 8>(quants, x, low);
    } else {
      dot_groups<T, R, 4, 8>(quants, x, high);
    }

    for (int r = 0; r < R; ++r) {
      const __m512 x_scale = _mm512_set1_ps(x_scales[r][run]);
      if constexpr (T == dtype::q6_k) {
        const __m512 dot = _mm512_fmadd_ps(
            second, _mm512_cvtepi32_ps(high[r]),
            _mm512_mul_ps(factor, _mm512_cvtepi32_ps(low[r])));
        total[r] = _mm512_fmadd_ps(dot, x_scale, total[r]);
        continue;
      }
      __m512i sum = low[r];
      if constexpr (R <= 2) sum = _mm512_add_epi32(sum, high[r]);
      const __m512 dot = _mm512_cvtepi32_ps(sum);
      if constexpr (has_minimum) {
        const __m512 x_sum = _mm512_cvtepi32_ps(
            _mm512_set1_epi32(x_sums[r][2 * run] + x_sums[r][2 * run + 1]));
        const __m512 offset = _mm512_mul_ps(second, x_sum);
        const __m512 value = T == dtype::q4_k
                                 ? _mm512_fmsub_ps(factor, dot, offset)
                                 : _mm512_fmadd_ps(factor, dot, offset);
        total[r] = _mm512_fmadd_ps(value, x_scale, total[r]);
      } else {
        total[r]
            = _mm512_fmadd_ps(dot, _mm512_mul_ps(factor, x_scale), total[r]);
      }
    }

    for (int r = 0; r < R; ++r) x[r] += run_columns;
    quants += quant_bytes;
    scales += scale_bytes;
    if constexpr (T == dtype::q4_k || T == dtype::q6_k)
      if (run % 8 == 7) supers += p.layout.super_bytes;
  }
  for (int r = 0; r < R; ++r)
    _mm512_mask_storeu_ps(y + (row + r) * p.y_stride, outputs, total[r]);
}

template <dtype T>
void panels_product(const panel_product& p) {
  for (std::int64_t o = 0; o < p.n_outputs; o += panel_rows) {
    const std::byte* panel = p.panels + o / panel_rows * p.layout.panel_bytes;
    const std::int64_t left = p.n_outputs - o;
    const auto outputs = static_cast<__mmask16>(
        left >= panel_rows ? 0xffffU : (1U << left) - 1U);
    float* y = p.y + o;
    std::int64_t row = 0;
    for (; row + 8 <= p.x.n_rows; row += 8)
      panel_rows_product<T, 8>(p, panel, row, outputs, y);
    for (; row + 4 <= p.x.n_rows; row += 4)
      panel_rows_product<T, 4>(p, panel, row, outputs, y);
    for (; row + 2 <= p.x.n_rows; row += 2)
      panel_rows_product<T, 2>(p, panel, row, outputs, y);
    for (; row < p.x.n_rows; ++row)
      panel_rows_product<T, 1>(p, panel, row, outputs, y);
  }
}

} // namespace

void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums) {
  const __m512i magnitude_bits = _mm512_set1_epi32(0x7fffffff);
  const __m512i limit = _mm512_set1_epi32(127);
  for (std::int64_t run = 0; run < n_runs; ++run, x += run_columns) {
    const __m512 a = _mm512_loadu_ps(x);
    const __m512 b = _mm512_loadu_ps(x + 16);
    // Magnitudes compare as integers, with NaN above infinity.
    const __m512i largest = _mm512_max_epu32(
        _mm512_and_si512(_mm512_castps_si512(a), magnitude_bits),
        _mm512_and_si512(_mm512_castps_si512(b), magnitude_bits));
    const std::uint32_t bits = _mm512_reduce_max_epu32(largest);
    float max = 0;
    std::memcpy(&max, &bits, sizeof max);
    float inverse = 0;
    if (bits >= 0x7f800000U) {
      scales[run] = max - max; // NaN
    } else if (max < smallest_int8_max) {
      scales[run] = 0;
    } else {
      scales[run] = max / 127.0F;
      inverse = 127.0F / max;
    }
    __m512i qa = _mm512_setzero_si512();
    __m512i qb = qa;
    if (inverse != 0) {
      const __m512 factor = _mm512_set1_ps(inverse);
      // Rounds to nearest even: the mode nobody changes.
      qa = _mm512_cvtps_epi32(_mm512_mul_ps(a, factor));
      qb = _mm512_cvtps_epi32(_mm512_mul_ps(b, factor));
      qa = _mm512_min_epi32(qa, limit);
      qb = _mm512_min_epi32(qb, limit);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values + run * run_columns),
                     _mm512_cvtepi32_epi8(qa));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(values + run * run_columns + 16),
        _mm512_cvtepi32_epi8(qb));
    sums[2 * run] = _mm512_reduce_add_epi32(qa);
    sums[2 * run + 1] = _mm512_reduce_add_epi32(qb);
  }
}

void multiply_panels(const panel_product& p) {
  switch (p.type) {
  case dtype::q8_0:
    panels_product<dtype::q8_0>(p);
    break;
  case dtype::q4_0:
    panels_product<dtype::q4_0>(p);
    break;
  case dtype::q4_1:
    panels_product<dtype::q4_1>(p);
    break;
  case dtype::q4_k:
    panels_product<dtype::q4_k>(p);
    break;
  case dtype::q6_k:
    panels_product<dtype::q6_k>(p);
    break;
  default:
    break;
  }
}

} // namespace kvloom::kernels::avx512
