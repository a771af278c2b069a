// Element types of tensors, plain and block-quantised.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvloom {

/// Element type. The block types are those of GGUF
/// (ggml `ggml_type`: Q8_0, Q4_0, Q4_1, Q4_K, Q6_K).
enum class dtype : std::uint8_t {
  f32,
  f16,
  bf16,
  q8_0, ///< 32 values a block: f16 scale, 32 signed bytes.
  q4_0, ///< 32 values a block: f16 scale, 16 bytes of nibbles, minus 8.
  q4_1, ///< 32 values a block: f16 scale, f16 minimum, 16 bytes of nibbles.
  q4_k, ///< 256 values a block: two f16, 12 bytes of 6-bit scales, nibbles.
  q6_k, ///< 256 values a block: 6-bit values, 16 int8 scales, one f16.
};

/// Values in one block; 1 for plain types.
constexpr std::int64_t block_values(dtype type) {
  switch (type) {
  case dtype::q8_0:
  case dtype::q4_0:
  case dtype::q4_1:
    return 32;
  case dtype::q4_k:
  case dtype::q6_k:
    return 256;
  default:
    return 1;
  }
}

/// Bytes of one block; of one element for plain types.
constexpr std::int64_t block_bytes(dtype type) {
  switch (type) {
  case dtype::f32:
    return 4;
  case dtype::f16:
  case dtype::bf16:
    return 2;
  case dtype::q8_0:
    return 34;
  case dtype::q4_0:
    return 18;
  case dtype::q4_1:
    return 20;
  case dtype::q4_k:
    return 144;
  case dtype::q6_k:
    return 210;
  }
  return 0;
}

/// Bytes of `n_values` values in one row; n_values must be whole blocks.
constexpr std::int64_t row_bytes(dtype type, std::int64_t n_values) {
  return n_values / block_values(type) * block_bytes(type);
}

constexpr bool is_quantised(dtype type) {
  return block_values(type) > 1;
}

constexpr const char* to_string(dtype type) {
  switch (type) {
  case dtype::f32:
    return "f32";
  case dtype::f16:
    return "f16";
  case dtype::bf16:
    return "bf16";
  case dtype::q8_0:
    return "q8_0";
  case dtype::q4_0:
    return "q4_0";
  case dtype::q4_1:
    return "q4_1";
  case dtype::q4_k:
    return "q4_k";
  case dtype::q6_k:
    return "q6_k";
  }
  return "?";
}

} // namespace kvloom
