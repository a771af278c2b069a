#include "engine/model/rope.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace kvloom::engine {

namespace {

float rounded(double value) {
  return static_cast<float>(value);
}

/// theta^(2j/head_dim), the wavelength of pair j over 2 pi.
float pair_period(const rope_config& rope, std::int64_t pair,
                  std::int64_t head_dim) {
  const float exponent
      = static_cast<float>(2 * pair) / static_cast<float>(head_dim);
  return rounded(std::pow(rope.theta, static_cast<double>(exponent)));
}

float llama3_frequency(const rope_config& rope, float plain) {
  const auto factor = rounded(rope.factor);
  const auto context = static_cast<double>(rope.original_context);
  const float wavelength = rounded(2 * std::numbers::pi) / plain;
  if (wavelength < rounded(context / rope.high_freq_factor)) return plain;
  if (wavelength > rounded(context / rope.low_freq_factor))
    return plain / factor;
  const float smooth
      = (rounded(context) / wavelength - rounded(rope.low_freq_factor))
        / rounded(rope.high_freq_factor - rope.low_freq_factor);
  return (1.0F - smooth) * plain / factor + smooth * plain;
}

/// Dimension whose pair turns `rotations` times over the original context.
double correction_dimension(const rope_config& rope, double rotations,
                            std::int64_t head_dim) {
  const double turns = static_cast<double>(rope.original_context)
                       / (rotations * 2 * std::numbers::pi);
  return static_cast<double>(head_dim) * std::log(turns)
         / (2 * std::log(rope.theta));
}

struct ramp {
  double low = 0, high = 0;
};

ramp yarn_ramp(const rope_config& rope, std::int64_t head_dim) {
  double low = correction_dimension(rope, rope.beta_fast, head_dim);
  double high = correction_dimension(rope, rope.beta_slow, head_dim);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(head_dim - 1));
  if (low == high) high += 0.001;
  return {low, high};
}

float yarn_frequency(const rope_config& rope, const ramp& border,
                     std::int64_t pair, float period) {
  const float slope = (static_cast<float>(pair) - rounded(border.low))
                      / rounded(border.high - border.low);
  const float keep = 1.0F - std::clamp(slope, 0.0F, 1.0F);
  const float extrapolated = 1.0F / period;
  const float interpolated = 1.0F / (rounded(rope.factor) * period);
  return interpolated * (1.0F - keep) + extrapolated * keep;
}

double yarn_scale(double factor, double multiplier) {
  return factor <= 1 ? 1.0 : 0.1 * multiplier * std::log(factor) + 1.0;
}

} // namespace

std::vector<double> inverse_frequencies(const rope_config& rope,
                                        std::int64_t head_dim) {
  const std::int64_t n_pairs = head_dim / 2;
  const ramp border = rope.kind == rope_config::scheme::yarn
                          ? yarn_ramp(rope, head_dim)
                          : ramp{};
  std::vector<double> frequencies;
  frequencies.reserve(static_cast<std::size_t>(n_pairs));
  for (std::int64_t pair = 0; pair < n_pairs; ++pair) {
    const float period = pair_period(rope, pair, head_dim);
    float frequency = 1.0F / period;
    switch (rope.kind) {
    case rope_config::scheme::plain:
      break;
    case rope_config::scheme::linear:
      frequency /= rounded(rope.factor);
      break;
    case rope_config::scheme::llama3:
      frequency = llama3_frequency(rope, frequency);
      break;
    case rope_config::scheme::yarn:
      frequency = yarn_frequency(rope, border, pair, period);
      break;
    }
    if (!rope.freq_divisors.empty())
      frequency /= rope.freq_divisors[static_cast<std::size_t>(pair)];
    frequencies.push_back(static_cast<double>(frequency));
  }
  return frequencies;
}

double rope_magnitude(const rope_config& rope) {
  if (rope.kind != rope_config::scheme::yarn) return 1;
  if (rope.attention_factor) return *rope.attention_factor;
  const double all_dim = rope.mscale_all_dim.value_or(0);
  if (rope.mscale.value_or(0) != 0 && all_dim != 0)
    return yarn_scale(rope.factor, *rope.mscale)
           / yarn_scale(rope.factor, all_dim);
  return yarn_scale(rope.factor, 1);
}

} // namespace kvloom::engine
