#include "core/base/random.hpp"
#include "core/tensor/float_bits.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace kvloom {
namespace {

TEST(float_bits, every_bf16_pattern_survives_the_way_there_and_back) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float wide = bf16_to_f32(pattern);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(wide))));
    } else {
      ASSERT_EQ(f32_to_bf16(wide), pattern);
    }
  }
}

TEST(float_bits, every_f16_pattern_survives_and_has_its_value) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float wide = f16_to_f32(pattern);
    const int exponent = (bits >> 10) & 0x1f;
    const int fraction = bits & 0x3ff;
    if (exponent == 0x1f) {
      EXPECT_EQ(std::isnan(wide), fraction != 0);
      EXPECT_EQ(std::isinf(wide), fraction == 0);
    } else {
      const double magnitude = exponent == 0
                                   ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(static_cast<double>(wide),
                (bits & 0x8000) != 0 ? -magnitude : magnitude);
    }
    if (!std::isnan(wide)) {
      ASSERT_EQ(f32_to_f16(wide), pattern);
    }
  }
}

// Nearest, ties to even: compared with the two neighbours in double.
template <class Narrow, class Widen>
void expect_nearest(Narrow narrow, Widen widen, float value) {
  const std::uint16_t got = narrow(value);
  const double error = std::abs(static_cast<double>(widen(got)) - value);
  for (int step : {-1, 1}) {
    const auto other = static_cast<std::uint16_t>(got + step);
    const float neighbour = widen(other);
    if (!std::isfinite(neighbour)) continue;
    const double distance = std::abs(static_cast<double>(neighbour) - value);
    ASSERT_LE(error, distance) << value;
    if (error == distance) {
      ASSERT_EQ(got % 2, 0) << value;
    }
  }
}

TEST(float_bits, narrowing_goes_to_the_nearest) {
  random_stream random(11, "float_bits");
  for (int i = 0; i < 200000; ++i) {
    const auto scale = std::ldexp(1.0, static_cast<int>(random.below(30)) - 20);
    const auto value = static_cast<float>(random.normal() * scale);
    expect_nearest(f32_to_bf16, bf16_to_f32, value);
    if (std::abs(value) < 65504) expect_nearest(f32_to_f16, f16_to_f32, value);
  }
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::infinity()), 0x7c00);
}

} // namespace
} // namespace kvloom
