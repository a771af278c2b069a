// Vectors of f32 as wide as the including file may use. Everything here has
// internal linkage: a function compiled for a wide path must never be the one
// that the linker keeps for a narrow path. For the same reason the files that
// include this one use no inline function or template of another header.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
  #include <immintrin.h>
#endif

namespace kvloom::kernels {

namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

using f32_lanes [[gnu::vector_size(4 * lanes)]] = float;
using i32_lanes [[gnu::vector_size(4 * lanes)]] = std::int32_t;
using u32_lanes [[gnu::vector_size(4 * lanes)]] = std::uint32_t;
using u16_lanes [[gnu::vector_size(2 * lanes)]] = std::uint16_t;
using f32_lanes_anywhere
    [[gnu::vector_size(4 * lanes), gnu::aligned(4), gnu::may_alias]]
    = float;
using i32_lanes_anywhere
    [[gnu::vector_size(4 * lanes), gnu::aligned(4), gnu::may_alias]]
    = std::int32_t;
using u16_lanes_anywhere
    [[gnu::vector_size(2 * lanes), gnu::aligned(2), gnu::may_alias]]
    = std::uint16_t;

// Stands for minus infinity where arithmetic must stay finite.
constexpr float hidden_score = -1e30F;
// Maxima are raised to this, so that hidden scores minus it stay hidden.
constexpr float lowest_maximum = -1e29F;

[[maybe_unused]] inline f32_lanes load(const float* from) {
  return *reinterpret_cast<const f32_lanes_anywhere*>(from);
}

[[maybe_unused]] inline void store(float* to, f32_lanes value) {
  *reinterpret_cast<f32_lanes_anywhere*>(to) = value;
}

[[maybe_unused]] inline i32_lanes load_i32(const std::int32_t* from) {
  return *reinterpret_cast<const i32_lanes_anywhere*>(from);
}

[[maybe_unused]] inline f32_lanes splat(float value) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(value);
#elif defined(__AVX2__)
  return _mm256_set1_ps(value);
#else
  return f32_lanes{value, value, value, value};
#endif
}

// a * b + c, rounded once where the path has FMA.
[[maybe_unused]] inline f32_lanes fma(f32_lanes a, f32_lanes b, f32_lanes c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

// b if either is NaN.
[[maybe_unused]] inline f32_lanes larger(f32_lanes a, f32_lanes b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

// b if either is NaN.
[[maybe_unused]] inline f32_lanes smaller(f32_lanes a, f32_lanes b) {
#if defined(__AVX512F__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

// [sum of a, sum of b, sum of c, sum of d], in a fixed order.
[[maybe_unused]] inline void store_sums(float* to, f32_lanes a, f32_lanes b,
                                        f32_lanes c, f32_lanes d) {
#if defined(__AVX512F__)
  const auto pair = [](__m512 x, __m512 y) {
    return _mm512_add_ps(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y));
  };
  const __m512d ab = _mm512_castps_pd(pair(a, b));
  const __m512d cd = _mm512_castps_pd(pair(c, d));
  const __m512 four
      = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                      _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(four),
                                    _mm512_extractf32x8_ps(four, 1));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(half),
                               _mm256_extractf128_ps(half, 1)));
#elif defined(__AVX2__)
  const auto pair = [](__m256 x, __m256 y) {
    return _mm256_add_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
  };
  const __m256d ab = _mm256_castps_pd(pair(a, b));
  const __m256d cd = _mm256_castps_pd(pair(c, d));
  const __m256 half
      = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)),
                      _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(half),
                               _mm256_extractf128_ps(half, 1)));
#else
  const f32_lanes ab = __builtin_shufflevector(a, b, 0, 4, 1, 5)
                       + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const f32_lanes cd = __builtin_shufflevector(c, d, 0, 4, 1, 5)
                       + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5)
                + __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
#endif
}

[[maybe_unused]] inline float sum_of(f32_lanes a) {
  float sums[4];
  store_sums(sums, a, a, a, a);
  return sums[0];
}

[[maybe_unused]] inline float largest_of(f32_lanes a) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps(a);
#else
  float best = a[0];
  for (int i = 1; i < lanes; ++i) best = a[i] > best ? a[i] : best;
  return best;
#endif
}

// 2^x for x <= 127, relative error below 2.5e-7 where the result is normal; 0
// for x <= -127, NaN for NaN and -infinity. A polynomial with least relative
// error on
// [-1/2, 1/2].
[[maybe_unused]] inline f32_lanes exp2_of(f32_lanes x) {
#if defined(__AVX512F__)
  const f32_lanes n = _mm512_roundscale_ps(x, 0x08); // nearest
#else
  const f32_lanes floor_x = splat(-127.0F);
  const i32_lanes normal = x > floor_x;
  const f32_lanes not_a_number = x * splat(0.0F);
  x = larger(x, floor_x);
  // Adding 1.5 * 2^23 leaves no place for a fraction.
  const f32_lanes n = (x + splat(0x1.8p23F)) - splat(0x1.8p23F);
#endif
  const f32_lanes f = x - n;
  f32_lanes p = splat(0.0013264727F);
  p = fma(p, f, splat(0.009671513F));
  p = fma(p, f, splat(0.055507336F));
  p = fma(p, f, splat(0.24022242F));
  p = fma(p, f, splat(0.6931470F));
  p = fma(p, f, splat(1.0F));
#if defined(__AVX512F__)
  return _mm512_scalef_ps(p, n);
#else
  const i32_lanes exponent = __builtin_convertvector(n, i32_lanes) + 127;
  const i32_lanes bits = (exponent << 23) & normal;
  return p * reinterpret_cast<f32_lanes>(bits) + not_a_number;
#endif
}

// -- elements as stored -------------------------------------------------------

struct stored_f32 {
  using element = float;
  static f32_lanes widen(const float* from) { return load(from); }
};

struct stored_bf16 {
  using element = std::uint16_t;
  static f32_lanes widen(const std::uint16_t* from) {
#if defined(__AVX512F__)
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(
                              reinterpret_cast<const __m256i*>(from))),
                          16));
#elif defined(__AVX2__)
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(
                              reinterpret_cast<const __m128i*>(from))),
                          16));
#else
    const u16_lanes bits = *reinterpret_cast<const u16_lanes_anywhere*>(from);
    return reinterpret_cast<f32_lanes>(__builtin_convertvector(bits, u32_lanes)
                                       << 16);
#endif
  }
};

struct stored_f16 {
  using element = std::uint16_t;
  static f32_lanes widen(const std::uint16_t* from) {
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
    return _mm256_cvtph_ps(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
    // The exponent moves by a product, which is exact and does subnormals too.
    const u32_lanes bits = __builtin_convertvector(
        *reinterpret_cast<const u16_lanes_anywhere*>(from), u32_lanes);
    const u32_lanes magnitude = (bits & 0x7fffU) << 13;
    const f32_lanes scaled
        = reinterpret_cast<f32_lanes>(magnitude) * splat(0x1p112F);
    const u32_lanes special
        = reinterpret_cast<u32_lanes>((bits & 0x7c00U) == 0x7c00U);
    const u32_lanes finite_bits = reinterpret_cast<u32_lanes>(scaled);
    const u32_lanes all = (special & (magnitude | 0x7f800000U))
                          | (~special & finite_bits) | ((bits & 0x8000U) << 16);
    return reinterpret_cast<f32_lanes>(all);
#endif
  }
};

} // namespace

} // namespace kvloom::kernels
