#include "core/base/random.hpp"
#include "core/tensor/float_bits.hpp"
#include "engine/model/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace kvloom::engine {
namespace {

constexpr std::int64_t columns = 64;

/// A matrix of random values and what its rows mean in f32.
struct source {
  std::vector<std::byte> bytes;
  weight_view view;
};

source plain(std::int64_t rows, const char* name) {
  random_stream draw(3, name);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& one : values) one = static_cast<float>(draw.normal());
  source made;
  made.bytes.resize(values.size() * sizeof(float));
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  made.view = {
      name, dtype::f32, {rows, columns}, made.bytes.data(), made.bytes.size()};
  return made;
}

source blocks(dtype type, std::int64_t rows, const char* name) {
  random_stream draw(4, name);
  source made;
  made.bytes.resize(static_cast<std::size_t>(rows * row_bytes(type, columns)));
  for (std::byte& one : made.bytes)
    one = static_cast<std::byte>(draw.below(256));
  // Scales must be numbers: one f16 (q8_0) or two (q4_1) lead a block.
  const auto block = static_cast<std::size_t>(block_bytes(type));
  for (std::size_t at = 0; at < made.bytes.size(); at += block)
    for (std::size_t i = 0; i < (type == dtype::q4_1 ? 2U : 1U); ++i) {
      const std::uint16_t scale
          = f32_to_f16(0.01F + 0.001F * static_cast<float>(draw.below(10)));
      std::memcpy(made.bytes.data() + at + 2 * i, &scale, 2);
    }
  made.view
      = {name, type, {rows, columns}, made.bytes.data(), made.bytes.size()};
  return made;
}

std::vector<float> product_by_rows(const source& w, const float* x) {
  std::vector<float> y;
  std::vector<float> row(columns);
  for (std::int64_t r = 0; r < w.view.rows(); ++r) {
    const std::byte* from = w.view.bytes + r * row_bytes(w.view.type, columns);
    if (w.view.type == dtype::f32)
      std::memcpy(row.data(), from, columns * sizeof(float));
    else
      kernels::dequantise_row(w.view.type, from, columns, row.data());
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c)
      sum += static_cast<double>(row[static_cast<std::size_t>(c)]) * x[c];
    y.push_back(static_cast<float>(sum));
  }
  return y;
}

// A quantised file may give q, k and v three types, and keep one plain.
TEST(projection, parts_of_different_types_lie_side_by_side) {
  const source q = blocks(dtype::q4_1, 20, "q");
  const source k = blocks(dtype::q8_0, 8, "k");
  const source v = plain(12, "v");
  auto made = projection::make({&q.view, &k.view, &v.view},
                               kernels::weight_matrix::form::f32, true);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->rows(), 40);
  EXPECT_GT(made->bytes(), 0);
  for (const std::int64_t n_rows : {1, 3}) {
    random_stream draw(9, "x");
    std::vector<float> x(static_cast<std::size_t>(n_rows * columns));
    for (float& one : x) one = static_cast<float>(draw.normal());
    std::vector<float> y(static_cast<std::size_t>(n_rows * 40), NAN);
    std::vector<float> scratch;
    made->multiply(product::few, n_rows, x.data(), y.data(), scratch);
    for (std::int64_t r = 0; r < n_rows; ++r) {
      std::vector<float> expected;
      for (const source* part : {&q, &k, &v}) {
        const auto one = product_by_rows(*part, x.data() + r * columns);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      for (std::size_t i = 0; i < 40; ++i) {
        const float got = y[static_cast<std::size_t>(r) * 40 + i];
        // int8 activations: half a step of 3/127 on 64 terms.
        ASSERT_NEAR(got, expected[i], i < 28 ? 0.15F : 1e-4F) << i;
      }
    }
  }
}

TEST(projection, an_error_names_the_tensor) {
  source bad = blocks(dtype::q8_0, 2, "blk.0.attn_q.weight");
  bad.view.shape = {2, 40}; // not whole blocks
  const auto made
      = projection::make({&bad.view}, kernels::weight_matrix::form::f32, true);
  ASSERT_FALSE(made);
  EXPECT_NE(to_string(made.error()).find("blk.0.attn_q.weight"),
            std::string::npos);
}

} // namespace
} // namespace kvloom::engine
