// Row-wise arithmetic over vectors of any width; included once by each
// elementwise_*.cpp. Internal linkage only, see lanes.hpp.
#pragma once

#include "kernels/cpu/elementwise_path.hpp"
#include "kernels/cpu/lanes.hpp"

namespace kvloom::kernels {

namespace {

constexpr float log2_e = 1.44269504F;

// The last n < lanes floats, the rest `fill`.
inline f32_lanes load_part(const float* from, std::int64_t n, float fill) {
  f32_lanes out = splat(fill);
  for (std::int64_t i = 0; i < n; ++i) out[i] = from[i];
  return out;
}

inline void store_part(float* to, std::int64_t n, f32_lanes value) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value[i];
}

void rms_norm_row(std::int64_t width, float* x, const float* delta,
                  const float* weight, float eps, float* y) {
  f32_lanes sums[4];
  for (f32_lanes& sum : sums) sum = splat(0);
  const auto take = [&](std::int64_t c, f32_lanes& sum) {
    f32_lanes value = load(x + c);
    if (delta != nullptr) {
      value += load(delta + c);
      store(x + c, value);
    }
    sum = fma(value, value, sum);
  };
  std::int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes)
    for (int i = 0; i < 4; ++i) take(c + i * lanes, sums[i]);
  for (; c + lanes <= width; c += lanes) take(c, sums[0]);
  float sum = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; c < width; ++c) {
    if (delta != nullptr) x[c] += delta[c];
    sum += x[c] * x[c];
  }
  const float factor
      = 1.0F / __builtin_sqrtf(sum / static_cast<float>(width) + eps);
  c = 0;
  for (; c + lanes <= width; c += lanes)
    store(y + c, load(x + c) * splat(factor) * load(weight + c));
  for (; c < width; ++c) y[c] = x[c] * factor * weight[c];
}

inline f32_lanes swiglu_lanes(f32_lanes gate, f32_lanes up) {
  // Beyond 2^126 the quotient is nought for every use. A NaN passes both.
  const f32_lanes power
      = smaller(splat(126.0F), larger(splat(-126.0F), gate * splat(-log2_e)));
  return gate / (splat(1.0F) + exp2_of(power)) * up;
}

void swiglu_row(std::int64_t width, const float* gate, const float* up,
                float* a) {
  std::int64_t c = 0;
  for (; c + lanes <= width; c += lanes)
    store(a + c, swiglu_lanes(load(gate + c), load(up + c)));
  if (c < width)
    store_part(a + c, width - c,
               swiglu_lanes(load_part(gate + c, width - c, 0),
                            load_part(up + c, width - c, 0)));
}

#if defined(__AVX2__)

constexpr int wide_lanes = lanes / 2;
using f64_lanes [[gnu::vector_size(8 * wide_lanes)]] = double;
using i64_lanes [[gnu::vector_size(8 * wide_lanes)]] = std::int64_t;
using f64_lanes_anywhere
    [[gnu::vector_size(8 * wide_lanes), gnu::aligned(8), gnu::may_alias]]
    = double;

inline f64_lanes fma(f64_lanes a, f64_lanes b, f64_lanes c) {
  #if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
  #else
  return _mm256_fmadd_pd(a, b, c);
  #endif
}

inline f64_lanes polynomial(f64_lanes x, const double* coefficients, int n) {
  f64_lanes sum = x * 0 + coefficients[0];
  for (int i = 1; i < n; ++i) sum = fma(sum, x, x * 0 + coefficients[i]);
  return sum;
}

// Taylor series on [-pi/4, pi/4] in t = r^2, to below 1e-13: f32 is wanted.
constexpr double sine_terms[]
    = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
       -1.0 / 5040,      1.0 / 120,       -1.0 / 6};
constexpr double cosine_terms[] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                                   -1.0 / 720,      1.0 / 24,       -1.0 / 2};

void angles(std::int64_t n, double position, const double* inv_freq,
            double magnitude, float* cosines, float* sines) {
  std::int64_t c = 0;
  for (; c + wide_lanes <= n; c += wide_lanes) {
    const f64_lanes zero = {};
    const f64_lanes angle
        = position * *reinterpret_cast<const f64_lanes_anywhere*>(inv_freq + c);
    // Quarter turns; pi/2 in two parts, each product exact in the fused sum.
    const f64_lanes shifted
        = fma(angle, zero + 0x1.45f306dc9c883p-1, zero + 0x1.8p52);
    const f64_lanes turns = shifted - 0x1.8p52;
    f64_lanes r = fma(turns, zero - 0x1.921fb54442d18p0, angle);
    r = fma(turns, zero - 0x1.1a62633145c07p-54, r);
    const f64_lanes t = r * r;
    const f64_lanes s = fma(r * t, polynomial(t, sine_terms, 6), r);
    const f64_lanes k = fma(t, polynomial(t, cosine_terms, 6), zero + 1.0);
    const i64_lanes quarter = reinterpret_cast<i64_lanes>(shifted);
    const i64_lanes swap = -(quarter & 1);
    const auto bits
        = [](f64_lanes x) { return reinterpret_cast<i64_lanes>(x); };
    const i64_lanes sine
        = ((bits(s) & ~swap) | (bits(k) & swap)) ^ ((quarter & 2) << 62);
    const i64_lanes cosine
        = ((bits(k) & ~swap) | (bits(s) & swap)) ^ (((quarter + 1) & 2) << 62);
    for (int i = 0; i < wide_lanes; ++i) {
      cosines[c + i] = static_cast<float>(reinterpret_cast<f64_lanes>(cosine)[i]
                                          * magnitude);
      sines[c + i] = static_cast<float>(reinterpret_cast<f64_lanes>(sine)[i]
                                        * magnitude);
    }
  }
  for (; c < n; ++c) {
    cosines[c]
        = static_cast<float>(__builtin_cos(position * inv_freq[c]) * magnitude);
    sines[c]
        = static_cast<float>(__builtin_sin(position * inv_freq[c]) * magnitude);
  }
}

#else

void angles(std::int64_t n, double position, const double* inv_freq,
            double magnitude, float* cosines, float* sines) {
  for (std::int64_t c = 0; c < n; ++c) {
    cosines[c]
        = static_cast<float>(__builtin_cos(position * inv_freq[c]) * magnitude);
    sines[c]
        = static_cast<float>(__builtin_sin(position * inv_freq[c]) * magnitude);
  }
}

#endif

void rotate_row(std::int64_t n_heads, std::int64_t head_dim, float* heads,
                const float* cosines, const float* sines) {
  const std::int64_t half = head_dim / 2;
  for (std::int64_t h = 0; h < n_heads; ++h) {
    float* low = heads + h * head_dim;
    float* high = low + half;
    std::int64_t c = 0;
    for (; c + lanes <= half; c += lanes) {
      const f32_lanes a = load(low + c);
      const f32_lanes b = load(high + c);
      const f32_lanes cosine = load(cosines + c);
      const f32_lanes sine = load(sines + c);
      store(low + c, fma(a, cosine, -(b * sine)));
      store(high + c, fma(b, cosine, a * sine));
    }
    for (; c < half; ++c) {
      const float a = low[c];
      const float b = high[c];
      low[c] = a * cosines[c] - b * sines[c];
      high[c] = b * cosines[c] + a * sines[c];
    }
  }
}

// To nearest, ties to even; a NaN stays a quiet NaN. The conversion
// instruction flushes subnormal numbers, so this is done on the bits.
inline u32_lanes bf16_bits(f32_lanes value) {
  const u32_lanes bits = reinterpret_cast<u32_lanes>(value);
  const u32_lanes rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const u32_lanes nan
      = reinterpret_cast<u32_lanes>((bits & 0x7fffffffU) > 0x7f800000U);
  return (rounded & ~nan) | (((bits >> 16) | 0x40U) & nan);
}

void to_bf16(std::int64_t n, const float* from, std::uint16_t* to) {
  std::int64_t c = 0;
  for (; c + lanes <= n; c += lanes)
    *reinterpret_cast<u16_lanes_anywhere*>(to + c)
        = __builtin_convertvector(bf16_bits(load(from + c)), u16_lanes);
  if (c == n) return;
  const u32_lanes last = bf16_bits(load_part(from + c, n - c, 0));
  for (std::int64_t i = 0; c + i < n; ++i)
    to[c + i] = static_cast<std::uint16_t>(last[i]);
}

// To nearest, ties to even; a NaN stays a quiet NaN.
inline u16_lanes f16_bits(f32_lanes value) {
#if defined(__AVX512F__)
  return reinterpret_cast<u16_lanes>(
      _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__)
  return reinterpret_cast<u16_lanes>(
      _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#else
  const u32_lanes bits = reinterpret_cast<u32_lanes>(value);
  const u32_lanes magnitude = bits & 0x7fffffffU;
  const u32_lanes normal
      = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  // The adder rounds subnormal numbers at 2^-24.
  const u32_lanes subnormal
      = reinterpret_cast<u32_lanes>(reinterpret_cast<f32_lanes>(magnitude)
                                    + splat(0.5F))
        - 0x3f000000U;
  const auto where = [](i32_lanes condition) {
    return reinterpret_cast<u32_lanes>(condition);
  };
  const u32_lanes small = where(magnitude < 0x38800000U);
  const u32_lanes large = where(magnitude >= 0x477ff000U);
  const u32_lanes nan = where(magnitude > 0x7f800000U);
  u32_lanes out = (subnormal & small) | (normal & ~small);
  out = (out & ~large) | (0x7c00U & large);
  out = (out & ~nan) | (0x7e00U & nan);
  return __builtin_convertvector(out | ((bits >> 16) & 0x8000U), u16_lanes);
#endif
}

void to_f16(std::int64_t n, const float* from, std::uint16_t* to) {
  std::int64_t c = 0;
  for (; c + lanes <= n; c += lanes)
    *reinterpret_cast<u16_lanes_anywhere*>(to + c) = f16_bits(load(from + c));
  if (c == n) return;
  const u16_lanes last = f16_bits(load_part(from + c, n - c, 0));
  for (std::int64_t i = 0; c + i < n; ++i) to[c + i] = last[i];
}

template <class Stored>
void widen_all(std::int64_t n, const std::uint16_t* from, float* to) {
  std::int64_t c = 0;
  for (; c + lanes <= n; c += lanes) store(to + c, Stored::widen(from + c));
  if (c == n) return;
  std::uint16_t last[lanes] = {};
  for (std::int64_t i = 0; c + i < n; ++i) last[i] = from[c + i];
  store_part(to + c, n - c, Stored::widen(last));
}

void from_bf16(std::int64_t n, const std::uint16_t* from, float* to) {
  widen_all<stored_bf16>(n, from, to);
}

void from_f16(std::int64_t n, const std::uint16_t* from, float* to) {
  widen_all<stored_f16>(n, from, to);
}

void merge_head(std::int64_t head_dim, float* o_a, float* lse_a,
                const float* o_b, float lse_b) {
  constexpr float nothing = -__builtin_inff();
  if (lse_b == nothing) return;
  if (*lse_a == nothing) {
    for (std::int64_t c = 0; c < head_dim; ++c) o_a[c] = o_b[c];
    *lse_a = lse_b;
    return;
  }
  // A NaN takes part and shows in the result.
  const float most = *lse_a > lse_b ? *lse_a : lse_b;
  const float weight_a = __builtin_expf(*lse_a - most);
  const float weight_b = __builtin_expf(lse_b - most);
  const float sum = weight_a + weight_b;
  const float share_a = weight_a / sum;
  const float share_b = weight_b / sum;
  std::int64_t c = 0;
  for (; c + lanes <= head_dim; c += lanes)
    store(o_a + c,
          fma(load(o_a + c), splat(share_a), load(o_b + c) * splat(share_b)));
  for (; c < head_dim; ++c) o_a[c] = o_a[c] * share_a + o_b[c] * share_b;
  *lse_a = most + __builtin_logf(sum);
}

constexpr elementwise_path path_of_this_file
    = {rms_norm_row, swiglu_row, angles,   rotate_row, to_bf16,
       to_f16,       from_bf16,  from_f16, merge_head};

} // namespace

} // namespace kvloom::kernels
