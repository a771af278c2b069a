// Block formats of GGUF, as ggml's reference defines them; arithmetic in f32
// in the order of that reference, so that every value is equal bit for bit.
#include "core/tensor/float_bits.hpp"
#include "kernels/api/linear.hpp"

#include <algorithm>
#include <cstring>

namespace kvloom::kernels {

namespace {

float half_at(const std::byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return f16_to_f32(bits);
}

std::uint8_t u8(std::byte b) {
  return std::to_integer<std::uint8_t>(b);
}

std::int8_t i8(std::byte b) {
  return static_cast<std::int8_t>(u8(b));
}

// f16 d; i8 q[32]: d q
void block_q8_0(const std::byte* b, float* out) {
  const float d = half_at(b);
  for (int j = 0; j < 32; ++j) out[j] = d * static_cast<float>(i8(b[2 + j]));
}

// f16 d; u4 q[32], value j in the low and j + 16 in the high half: d (q - 8)
void block_q4_0(const std::byte* b, float* out) {
  const float d = half_at(b);
  for (int j = 0; j < 16; ++j) {
    const int pair = u8(b[2 + j]);
    out[j] = d * static_cast<float>((pair & 0xf) - 8);
    out[j + 16] = d * static_cast<float>((pair >> 4) - 8);
  }
}

// f16 d, m; u4 q[32] as in q4_0: d q + m
void block_q4_1(const std::byte* b, float* out) {
  const float d = half_at(b);
  const float m = half_at(b + 2);
  for (int j = 0; j < 16; ++j) {
    const int pair = u8(b[4 + j]);
    out[j] = d * static_cast<float>(pair & 0xf) + m;
    out[j + 16] = d * static_cast<float>(pair >> 4) + m;
  }
}

// f16 d, dmin; 12 bytes with 6-bit scale and minimum for 8 runs of 32; u4
// q[256], runs 2i and 2i + 1 in the low and high halves of 32 bytes:
// (d scale) q - (dmin minimum)
void block_q4_k(const std::byte* b, float* out) {
  const float d = half_at(b);
  const float dmin = half_at(b + 2);
  const std::byte* packed = b + 4;
  const std::byte* q = b + 16;
  for (int run = 0; run < 8; ++run) {
    int scale = 0;
    int minimum = 0;
    if (run < 4) {
      scale = u8(packed[run]) & 63;
      minimum = u8(packed[run + 4]) & 63;
    } else {
      scale = (u8(packed[run + 4]) & 0xf) | ((u8(packed[run - 4]) >> 6) << 4);
      minimum = (u8(packed[run + 4]) >> 4) | ((u8(packed[run]) >> 6) << 4);
    }
    const float factor = d * static_cast<float>(scale);
    const float offset = dmin * static_cast<float>(minimum);
    const int shift = run % 2 * 4;
    for (int j = 0; j < 32; ++j) {
      const int value = (u8(q[run / 2 * 32 + j]) >> shift) & 0xf;
      out[run * 32 + j] = factor * static_cast<float>(value) - offset;
    }
  }
}

// u4 low[128 bytes], u2 high[64 bytes], i8 scale[16], f16 d; for each half of
// 128 values four runs of 32: (d scale) (q - 32), a scale for 16 values
void block_q6_k(const std::byte* b, float* out) {
  const float d = half_at(b + 208);
  for (int half = 0; half < 2; ++half) {
    const std::byte* low = b + half * 64;
    const std::byte* high = b + 128 + half * 32;
    const std::byte* scale = b + 192 + half * 8;
    for (int run = 0; run < 4; ++run)
      for (int j = 0; j < 32; ++j) {
        const int l = (u8(low[run % 2 * 32 + j]) >> (run / 2 * 4)) & 0xf;
        const int h = (u8(high[j]) >> (run * 2)) & 3;
        const float factor
            = d * static_cast<float>(i8(scale[run * 2 + j / 16]));
        out[half * 128 + run * 32 + j]
            = factor * static_cast<float>((l | (h << 4)) - 32);
      }
  }
}

template <class Block>
void each_block(dtype type, const std::byte* row, std::int64_t columns,
                float* out, Block block) {
  const std::int64_t values = block_values(type);
  const std::int64_t bytes = block_bytes(type);
  for (std::int64_t i = 0; i < columns / values; ++i)
    block(row + i * bytes, out + i * values);
}

} // namespace

void dequantise_row(dtype type, const std::byte* row, std::int64_t columns,
                    float* out) {
  switch (type) {
  case dtype::f32:
    std::copy_n(row, columns * static_cast<std::int64_t>(sizeof(float)),
                reinterpret_cast<std::byte*>(out));
    return;
  case dtype::f16:
    for (std::int64_t i = 0; i < columns; ++i) out[i] = half_at(row + 2 * i);
    return;
  case dtype::bf16:
    for (std::int64_t i = 0; i < columns; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, row + 2 * i, sizeof bits);
      out[i] = bf16_to_f32(bits);
    }
    return;
  case dtype::q8_0:
    each_block(type, row, columns, out, block_q8_0);
    return;
  case dtype::q4_0:
    each_block(type, row, columns, out, block_q4_0);
    return;
  case dtype::q4_1:
    each_block(type, row, columns, out, block_q4_1);
    return;
  case dtype::q4_k:
    each_block(type, row, columns, out, block_q4_k);
    return;
  case dtype::q6_k:
    each_block(type, row, columns, out, block_q6_k);
    return;
  }
}

} // namespace kvloom::kernels
