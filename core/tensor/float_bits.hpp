// Conversions between f32, bf16 and f16 bit patterns.
#pragma once

#include <bit>
#include <cstdint>

namespace kvloom {

/// bf16 to f32, exact for every pattern.
inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// f32 to bf16, round to nearest, ties to even; a NaN stays a (quiet) NaN.
inline std::uint16_t f32_to_bf16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U)
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>(bits >> 16);
}

/// IEEE 754 binary16 to f32, exact, subnormals included.
inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23)
                                | (fraction << 13));
  const auto magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

/// f32 to IEEE 754 binary16, round to nearest, ties to even.
inline std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U; // rounds to infinity
  if (magnitude < 0x38800000U) {
    // Subnormal: let the float adder round at 2^-24.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

} // namespace kvloom
