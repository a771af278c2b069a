#include "linear_fixture.hpp"

#include "core/base/random.hpp"
#include "core/tensor/float_bits.hpp"

#include <cstring>

namespace kvloom::kernels {

namespace {

/// Random bytes, then scales of a sensible size at the places of the format.
void fill_block(dtype type, random_stream& random, std::byte* block) {
  for (std::int64_t i = 0; i < block_bytes(type); ++i)
    block[i] = std::byte(random.below(256));
  const auto scale = [&](float size) {
    return size * static_cast<float>(0.5 + random.uniform());
  };
  switch (type) {
  case dtype::q8_0:
    put_half(block, scale(0.0007F));
    break;
  case dtype::q4_0:
    put_half(block, scale(0.01F));
    break;
  case dtype::q4_1:
    put_half(block, scale(0.01F));
    put_half(block + 2, -scale(0.075F));
    break;
  case dtype::q4_k:
    put_half(block, scale(0.0003F));
    put_half(block + 2, scale(0.002F));
    break;
  case dtype::q6_k:
    put_half(block + 208, -scale(0.00003F));
    break;
  default:
    break;
  }
}

} // namespace

void put_half(std::byte* at, float value) {
  const std::uint16_t bits = f32_to_f16(value);
  std::memcpy(at, &bits, sizeof bits);
}

file_matrix random_matrix(dtype type, std::int64_t rows, std::int64_t columns,
                          std::uint64_t seed) {
  random_stream random(seed, "weights");
  file_matrix made{type, rows, columns, {}};
  made.bytes.resize(static_cast<std::size_t>(rows * row_bytes(type, columns)));
  if (is_quantised(type)) {
    for (std::size_t at = 0; at < made.bytes.size();
         at += static_cast<std::size_t>(block_bytes(type)))
      fill_block(type, random, made.bytes.data() + at);
    return made;
  }
  const auto size = static_cast<std::size_t>(block_bytes(type));
  for (std::size_t at = 0; at < made.bytes.size(); at += size) {
    const auto value = static_cast<float>(0.05 * random.normal());
    const std::uint16_t bits
        = type == dtype::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
    if (type == dtype::f32)
      std::memcpy(made.bytes.data() + at, &value, sizeof value);
    else
      std::memcpy(made.bytes.data() + at, &bits, sizeof bits);
  }
  return made;
}

std::vector<float> random_activations(std::int64_t n, std::uint64_t seed) {
  random_stream random(seed, "activations");
  std::vector<float> made(static_cast<std::size_t>(n));
  for (float& value : made) {
    value = static_cast<float>(random.normal());
    if (random.below(100) == 0) value *= 30;
  }
  return made;
}

std::vector<dtype> all_types() {
  return {dtype::f32,  dtype::f16,  dtype::bf16, dtype::q8_0,
          dtype::q4_0, dtype::q4_1, dtype::q4_k, dtype::q6_k};
}

std::vector<dtype> block_types() {
  return {dtype::q8_0, dtype::q4_0, dtype::q4_1, dtype::q4_k, dtype::q6_k};
}

std::vector<cpu_path> all_paths() {
  std::vector<cpu_path> paths;
  for (const cpu_path path :
       {cpu_path::portable, cpu_path::avx2, cpu_path::avx512})
    if (path <= detected_path()) paths.push_back(path);
  return paths;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size()
         && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace kvloom::kernels
