#include "core/tensor/float_bits.hpp"
#include "kernels/api/linear.hpp"
#include "linear_fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

namespace kvloom::kernels {
namespace {

std::vector<char> golden(const std::string& name) {
  const std::string path
      = std::string(KVLOOM_SOURCE_DIR) + "/tests/data/kernels/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "cannot open " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class golden_blocks : public testing::TestWithParam<dtype> {};

TEST_P(golden_blocks, widen_to_the_bits_of_the_reference) {
  const dtype type = GetParam();
  const auto blocks = golden(std::string(to_string(type)) + ".blocks");
  const auto values = golden(std::string(to_string(type)) + ".values");
  const auto n_blocks
      = static_cast<std::int64_t>(blocks.size()) / block_bytes(type);
  const std::int64_t n = n_blocks * block_values(type);
  ASSERT_GT(n, 0);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(n) * sizeof(float));
  std::vector<float> wanted(static_cast<std::size_t>(n));
  std::memcpy(wanted.data(), values.data(), values.size());
  std::vector<float> got(wanted.size());
  dequantise_row(type, reinterpret_cast<const std::byte*>(blocks.data()), n,
                 got.data());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], wanted[i]) << "value " << i;
}

INSTANTIATE_TEST_SUITE_P(dequantise, golden_blocks,
                         testing::ValuesIn(block_types()));

TEST(dequantise, widens_every_half_and_copies_f32) {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    patterns[i] = static_cast<std::uint16_t>(i);
  const auto* bytes = reinterpret_cast<const std::byte*>(patterns.data());
  std::vector<float> got(patterns.size());
  std::vector<float> wanted(patterns.size());
  dequantise_row(dtype::f16, bytes, 0x10000, got.data());
  for (std::size_t i = 0; i < got.size(); ++i)
    wanted[i] = f16_to_f32(patterns[i]);
  EXPECT_TRUE(same_bits(got, wanted));
  dequantise_row(dtype::bf16, bytes, 0x10000, got.data());
  for (std::size_t i = 0; i < got.size(); ++i)
    wanted[i] = bf16_to_f32(patterns[i]);
  EXPECT_TRUE(same_bits(got, wanted));
  std::vector<float> copy(wanted.size());
  dequantise_row(dtype::f32, reinterpret_cast<const std::byte*>(wanted.data()),
                 0x10000, copy.data());
  EXPECT_TRUE(same_bits(copy, wanted));
}

} // namespace
} // namespace kvloom::kernels
