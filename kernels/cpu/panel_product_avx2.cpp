#include "kernels/cpu/linear_kernels.hpp"

#include <immintrin.h>

#include <cstring>

namespace kvloom::kernels::avx2 {

namespace {

// Bytes that the weight stream is read ahead.
constexpr std::int64_t read_ahead = 2048;

__m256 halves(const std::byte* at) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

__m256 signed_bytes(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}

__m256 unsigned_bytes(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}

__m256i load(const std::byte* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// Bytes of group G of a run for 8 rows, without sign (q8_0: with its sign).
template <dtype T, int G>
__m256i group(const std::byte* quants) {
  if constexpr (T == dtype::q8_0)
    return _mm256_xor_si256(load(quants + G * 64), _mm256_set1_epi8(-128));
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  __m256i low = load(quants + G / 2 * 64);
  if constexpr (G % 2 == 1) low = _mm256_srli_epi16(low, 4);
  low = _mm256_and_si256(low, nibble);
  if constexpr (T == dtype::q6_k) {
    __m256i high = load(quants + 256 + G / 4 * 64);
    if constexpr (G % 4 == 0) high = _mm256_slli_epi16(high, 4);
    if constexpr (G % 4 == 1) high = _mm256_slli_epi16(high, 2);
    if constexpr (G % 4 == 3) high = _mm256_srli_epi16(high, 2);
    low = _mm256_or_si256(low, _mm256_and_si256(high, _mm256_set1_epi8(0x30)));
  }
  return low;
}

__m256i four_values(const std::int8_t* at) {
  std::int32_t four = 0;
  std::memcpy(&four, at, sizeof four);
  return _mm256_set1_epi32(four);
}

/// Products of a group by pairs of columns, 16 bits. At most 2 * 128 * 127,
/// 2 * 63 * 127 and 2 * 15 * 127: no saturation.
template <dtype T>
__m256i pair_products(__m256i w, __m256i x) {
  if constexpr (T == dtype::q8_0)
    return _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_maddubs_epi16(w, x);
}

/// Groups whose pair products fit into 16 bits together.
template <dtype T>
constexpr int groups_a_sum() {
  if constexpr (T == dtype::q8_0) return 1;
  if constexpr (T == dtype::q6_k) return 2;
  return 4;
}

/// pairs[r] += products of the groups G.. before End with row r.
template <dtype T, int R, int G, int End>
[[gnu::always_inline]] inline void add_pairs(const std::byte* quants,
                                             const std::int8_t* const (&x)[R],
                                             __m256i (&pairs)[R]) {
  if constexpr (G < End) {
    const __m256i w = group<T, G>(quants);
    for (int r = 0; r < R; ++r)
      pairs[r] = _mm256_add_epi16(
          pairs[r], pair_products<T>(w, four_values(x[r] + G * 4)));
    add_pairs<T, R, G + 1, End>(quants, x, pairs);
  }
}

/// sums[r] += the dot product of groups G.. before End of the run with row r.
template <dtype T, int R, int G, int End>
[[gnu::always_inline]] inline void dot_groups(const std::byte* quants,
                                              const std::int8_t* const (&x)[R],
                                              __m256i (&sums)[R]) {
  if constexpr (G < End) {
    constexpr int next = G + groups_a_sum<T>();
    __m256i pairs[R];
    for (int r = 0; r < R; ++r) pairs[r] = _mm256_setzero_si256();
    add_pairs<T, R, G, next>(quants, x, pairs);
    for (int r = 0; r < R; ++r)
      sums[r] = _mm256_add_epi32(
          sums[r], _mm256_madd_epi16(pairs[r], _mm256_set1_epi16(1)));
    dot_groups<T, R, next, End>(quants, x, sums);
  }
}

/// What the integers of group() exceed the true ones by.
template <dtype T>
constexpr int excess() {
  if constexpr (T == dtype::q4_0) return 8;
  if constexpr (T == dtype::q6_k) return 32;
  return 0;
}

/// Rows 8 * `half`.. of one panel times activation rows [row, row + R).
template <dtype T, int R>
void panel_rows_product(const panel_product& p, const std::byte* panel,
                        int half, std::int64_t row, __m256i outputs, float* y) {
  constexpr int quant_bytes
      = T == dtype::q8_0 ? 512 : (T == dtype::q6_k ? 384 : 256);
  constexpr int scale_bytes = T == dtype::q4_1 ? 64 : 32;
  constexpr bool has_minimum = T == dtype::q4_1 || T == dtype::q4_k;
  // Scales are bytes in the K types and f16 in the others.
  constexpr int scale_size = T == dtype::q4_k || T == dtype::q6_k ? 1 : 2;
  const std::int64_t n_runs = p.layout.n_runs;
  const std::byte* quants = panel + half * 32;
  const std::byte* scales = panel + p.layout.scales_at + half * 8 * scale_size;
  const std::byte* supers = panel + p.layout.supers_at + half * 16;
  const std::int8_t* x[R];
  const float* x_scales[R];
  const std::int32_t* x_sums[R];
  __m256 total[R];
  for (int r = 0; r < R; ++r) {
    x[r] = p.x.values + (row + r) * n_runs * run_columns;
    x_scales[r] = p.x.scales + (row + r) * n_runs;
    x_sums[r] = p.x.sums + (row + r) * n_runs * 2;
    total[r] = _mm256_setzero_ps();
  }
  for (std::int64_t run = 0; run < n_runs; ++run) {
    for (int line = 0; line < quant_bytes; line += 64)
      _mm_prefetch(reinterpret_cast<const char*>(quants + read_ahead + line),
                   _MM_HINT_T0);

    // Factor of the integers and, as the type has it, the minimum; q6_k has a
    // factor for each half of the run.
    __m256 factor;
    __m256 second = _mm256_setzero_ps();
    if constexpr (T == dtype::q4_k) {
      factor = _mm256_mul_ps(halves(supers), unsigned_bytes(scales));
      second = _mm256_mul_ps(halves(supers + 32), unsigned_bytes(scales + 16));
    } else if constexpr (T == dtype::q6_k) {
      factor = _mm256_mul_ps(halves(supers), signed_bytes(scales));
      second = _mm256_mul_ps(halves(supers), signed_bytes(scales + 16));
    } else {
      factor = halves(scales);
      if constexpr (T == dtype::q4_1) second = halves(scales + 32);
    }

    __m256i low[R];
    for (int r = 0; r < R; ++r) {
      std::int32_t x_sum = x_sums[r][2 * run];
      if constexpr (T != dtype::q6_k) x_sum += x_sums[r][2 * run + 1];
      low[r] = _mm256_set1_epi32(-excess<T>() * x_sum);
    }
    if constexpr (T == dtype::q6_k) {
      __m256i high[R];
      for (int r = 0; r < R; ++r)
        high[r] = _mm256_set1_epi32(-excess<T>() * x_sums[r][2 * run + 1]);
      dot_groups<T, R, 0, 4>(quants, x, low);
      dot_groups<T, R, 4, 8>(quants, x, high);
      for (int r = 0; r < R; ++r) {
        const __m256 dot = _mm256_fmadd_ps(
            second, _mm256_cvtepi32_ps(high[r]),
            _mm256_mul_ps(factor, _mm256_cvtepi32_ps(low[r])));
        total[r]
            = _mm256_fmadd_ps(dot, _mm256_set1_ps(x_scales[r][run]), total[r]);
      }
    } else {
      dot_groups<T, R, 0, 8>(quants, x, low);
      for (int r = 0; r < R; ++r) {
        const __m256 x_scale = _mm256_set1_ps(x_scales[r][run]);
        const __m256 dot = _mm256_cvtepi32_ps(low[r]);
        if constexpr (has_minimum) {
          const __m256 x_sum = _mm256_cvtepi32_ps(
              _mm256_set1_epi32(x_sums[r][2 * run] + x_sums[r][2 * run + 1]));
          const __m256 offset = _mm256_mul_ps(second, x_sum);
          const __m256 value = T == dtype::q4_k
                                   ? _mm256_fmsub_ps(factor, dot, offset)
                                   : _mm256_fmadd_ps(factor, dot, offset);
          total[r] = _mm256_fmadd_ps(value, x_scale, total[r]);
        } else {
          total[r]
              = _mm256_fmadd_ps(dot, _mm256_mul_ps(factor, x_scale), total[r]);
        }
      }
    }

    for (int r = 0; r < R; ++r) x[r] += run_columns;
    quants += quant_bytes;
    scales += scale_bytes;
    if constexpr (T == dtype::q4_k || T == dtype::q6_k)
      if (run % 8 == 7) supers += p.layout.super_bytes;
  }
  for (int r = 0; r < R; ++r)
    _mm256_maskstore_ps(y + (row + r) * p.y_stride, outputs, total[r]);
}

template <dtype T>
void panels_product(const panel_product& p) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (std::int64_t o = 0; o < p.n_outputs; o += 8) {
    const std::byte* panel = p.panels + o / panel_rows * p.layout.panel_bytes;
    const int half = o % panel_rows == 0 ? 0 : 1;
    const std::int64_t left = p.n_outputs - o;
    const __m256i outputs = _mm256_cmpgt_epi32(
        _mm256_set1_epi32(left < 8 ? static_cast<int>(left) : 8), lane);
    float* y = p.y + o;
    std::int64_t row = 0;
    for (; row + 4 <= p.x.n_rows; row += 4)
      panel_rows_product<T, 4>(p, panel, half, row, outputs, y);
    for (; row + 2 <= p.x.n_rows; row += 2)
      panel_rows_product<T, 2>(p, panel, half, row, outputs, y);
    for (; row < p.x.n_rows; ++row)
      panel_rows_product<T, 1>(p, panel, half, row, outputs, y);
  }
}

/// The greatest of 8 lanes, without sign.
std::uint32_t largest_of(__m256i a) {
  __m128i max = _mm_max_epu32(_mm256_castsi256_si128(a),
                              _mm256_extracti128_si256(a, 1));
  max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0x4e));
  max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(max));
}

std::int32_t sum_of(__m256i a) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(a),
                              _mm256_extracti128_si256(a, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return _mm_cvtsi128_si32(sum);
}

} // namespace

void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums) {
  const __m256i magnitude_bits = _mm256_set1_epi32(0x7fffffff);
  const __m256i limit = _mm256_set1_epi32(127);
  // Packing works by 128-bit halves; this puts the four-byte pieces in order.
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (std::int64_t run = 0; run < n_runs; ++run, x += run_columns) {
    __m256 part[4];
    // Magnitudes compare as integers, with NaN above infinity.
    __m256i largest = _mm256_setzero_si256();
    for (int i = 0; i < 4; ++i) {
      part[i] = _mm256_loadu_ps(x + 8 * i);
      largest = _mm256_max_epu32(
          largest,
          _mm256_and_si256(_mm256_castps_si256(part[i]), magnitude_bits));
    }
    const std::uint32_t bits = largest_of(largest);
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
    __m256i q[4];
    for (int i = 0; i < 4; ++i) {
      q[i] = _mm256_setzero_si256();
      // Rounds to nearest even: the mode nobody changes.
      if (inverse != 0)
        q[i] = _mm256_min_epi32(
            _mm256_cvtps_epi32(_mm256_mul_ps(part[i], _mm256_set1_ps(inverse))),
            limit);
    }
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]),
                                             _mm256_packs_epi32(q[2], q[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + run * run_columns),
                        _mm256_permutevar8x32_epi32(bytes, in_order));
    sums[2 * run] = sum_of(_mm256_add_epi32(q[0], q[1]));
    sums[2 * run + 1] = sum_of(_mm256_add_epi32(q[2], q[3]));
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

} // namespace kvloom::kernels::avx2
