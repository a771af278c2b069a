#include "core/base/random.hpp"
#include "kernels/api/linear.hpp"
#include "kernels/cpu/linear_kernels.hpp"
#include "kernels/reference/linear_reference.hpp"
#include "linear_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace kvloom::kernels {
namespace {

using form = weight_matrix::form;

weight_matrix made(std::span<const matrix_source> parts, form as) {
  auto matrix = weight_matrix::make(parts, as);
  EXPECT_TRUE(matrix) << to_string(matrix.error());
  return std::move(*matrix);
}

std::vector<float> few(const weight_matrix& w, std::int64_t n_rows,
                       const float* x) {
  // NaN where nothing was written.
  std::vector<float> y(static_cast<std::size_t>(n_rows * w.rows()),
                       std::numeric_limits<float>::quiet_NaN());
  multiply_few(w, n_rows, x, y.data());
  return y;
}

reference::activations rounding_of(form as) {
  if (as == form::as_stored) return reference::activations::int8;
  return as == form::bf16 ? reference::activations::bf16
                          : reference::activations::exact;
}

/// Every path against float64 with the same rounding of the activations.
void expect_close(std::span<const matrix_source> parts, form as,
                  std::int64_t n_rows, const std::vector<float>& x) {
  const auto wanted = reference::multiply(parts, as == form::bf16,
                                          rounding_of(as), n_rows, x.data());
  const weight_matrix w = made(parts, as);
  for (const cpu_path path : all_paths()) {
    const with_path limit(path);
    const std::vector<float> y = few(w, n_rows, x.data());
    ASSERT_EQ(y.size(), wanted.y.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], wanted.y[i], 3e-6 * wanted.magnitude[i])
          << to_string(path) << ", output " << i;
  }
}

TEST(multiply_few, of_stored_blocks_equals_float64) {
  for (const dtype type : block_types())
    for (const std::int64_t columns : {256, 768})
      for (const std::int64_t rows : {1, 8, 9, 16, 23, 64})
        for (const std::int64_t n_rows : {1, 2, 3, 7, 8, 13}) {
          SCOPED_TRACE(testing::Message() << to_string(type) << " " << rows
                                          << "x" << columns << " " << n_rows);
          const file_matrix a = random_matrix(type, rows, columns, 11);
          expect_close(std::array{a.source()}, form::as_stored, n_rows,
                       random_activations(n_rows * columns, 12));
        }
}

TEST(multiply_few, of_narrow_blocks_equals_float64) {
  for (const dtype type : {dtype::q8_0, dtype::q4_0, dtype::q4_1})
    for (const std::int64_t columns : {32, 96, 576}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << columns);
      const file_matrix a = random_matrix(type, 40, columns, 13);
      expect_close(std::array{a.source()}, form::as_stored, 5,
                   random_activations(5 * columns, 14));
    }
}

TEST(multiply_few, of_stacked_parts_of_several_types_equals_float64) {
  const file_matrix a = random_matrix(dtype::q4_k, 70, 512, 15);
  const file_matrix b = random_matrix(dtype::q6_k, 3, 512, 16);
  const file_matrix c = random_matrix(dtype::q8_0, 600, 512, 17);
  const std::array parts{a.source(), b.source(), c.source()};
  for (const form as : {form::as_stored, form::f32, form::bf16})
    expect_close(parts, as, 3, random_activations(3 * 512, 18));
}

TEST(multiply_few, of_plain_matrices_equals_float64) {
  for (const dtype type : {dtype::f32, dtype::f16, dtype::bf16})
    for (const form as : {form::f32, form::bf16})
      for (const std::int64_t columns : {1, 7, 16, 33, 100, 1024})
        for (const std::int64_t n_rows : {1, 2, 4, 7, 9}) {
          SCOPED_TRACE(testing::Message()
                       << to_string(type) << " " << columns << " " << n_rows);
          const file_matrix a = random_matrix(type, 21, columns, 19);
          expect_close(std::array{a.source()}, as, n_rows,
                       random_activations(n_rows * columns, 20));
        }
}

/// Error of rounding the activations to int8, as a whole.
TEST(multiply_few, of_stored_blocks_is_near_the_unrounded_product) {
  for (const dtype type : block_types()) {
    const file_matrix a = random_matrix(type, 200, 1536, 21);
    const std::array parts{a.source()};
    random_stream random(22, "smooth");
    std::vector<float> x(1536);
    for (float& value : x) value = static_cast<float>(random.normal());
    const auto exact = reference::multiply(
        parts, false, reference::activations::exact, 1, x.data());
    const std::vector<float> y = few(made(parts, form::as_stored), 1, x.data());
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      error += std::pow(y[i] - exact.y[i], 2);
      size += std::pow(exact.y[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.01) << to_string(type);
  }
}

/// The same bits for a row alone, in any company, on 1 and 2 threads.
TEST(multiply_few, gives_a_row_the_same_bits_in_any_company) {
  struct use {
    dtype type;
    form as;
  };
  std::vector<use> uses{{dtype::f32, form::f32}, {dtype::f32, form::bf16}};
  for (const dtype type : block_types())
    uses.push_back({type, form::as_stored});
  constexpr std::int64_t most = 20;
  for (const use& u : uses) {
    // Large enough for several tasks.
    const file_matrix a = random_matrix(u.type, 700, 768, 23);
    const weight_matrix w = made(std::array{a.source()}, u.as);
    const std::vector<float> x = random_activations(most * 768, 24);
    for (const cpu_path path : all_paths()) {
      SCOPED_TRACE(testing::Message()
                   << to_string(u.type) << " " << static_cast<int>(u.as) << " "
                   << to_string(path));
      const with_path limit(path);
      std::vector<float> alone;
      for (std::int64_t r = 0; r < most; ++r) {
        const std::vector<float> y = few(w, 1, x.data() + r * 768);
        alone.insert(alone.end(), y.begin(), y.end());
      }
      for (const std::int64_t n_rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 20})
        for (const int threads : {1, 2}) {
          std::vector<float> y;
          on_threads(threads, [&] { y = few(w, n_rows, x.data()); });
          ASSERT_TRUE(
              same_bits(y, {alone.begin(), alone.begin() + n_rows * 700}))
              << n_rows << " rows, " << threads << " threads";
        }
    }
  }
}

struct int8_run {
  std::array<std::int8_t, 32> values{};
  float scale = 0;
  std::array<std::int32_t, 2> sums{};
};

int8_run rounded(const std::array<float, 32>& x) {
  int8_run run;
  active_linear_kernels().round_to_int8(1, x.data(), run.values.data(),
                                        &run.scale, run.sums.data());
  return run;
}

TEST(round_to_int8, is_the_same_on_every_path) {
  random_stream random(25, "runs");
  for (int n = 0; n < 2000; ++n) {
    std::array<float, 32> x{};
    const double size = std::pow(10.0, 70 * random.uniform() - 35);
    for (float& value : x) value = static_cast<float>(size * random.normal());
    // Ties: multiples of half a step.
    if (n % 3 == 0) {
      for (float& value : x)
        value = static_cast<float>(random.below(255)) / 2 - 63.5F;
      x[7] = 127;
    }
    if (n % 7 == 0) x[n % 32] = -0.0F;
    int8_run wanted;
    for (const cpu_path path : all_paths()) {
      const with_path limit(path);
      const int8_run got = rounded(x);
      if (path == cpu_path::portable) wanted = got;
      ASSERT_EQ(got.values, wanted.values) << n << " " << to_string(path);
      ASSERT_EQ(got.scale, wanted.scale) << n << " " << to_string(path);
      ASSERT_EQ(got.sums, wanted.sums) << n << " " << to_string(path);
    }
  }
}

TEST(round_to_int8, takes_ties_to_even_and_keeps_the_ends) {
  std::array<float, 32> x{};
  x[0] = 127;
  x[1] = -127;
  x[2] = 0.5F;
  x[3] = 1.5F;
  x[4] = -2.5F;
  x[31] = -3.5F;
  for (const cpu_path path : all_paths()) {
    const with_path limit(path);
    const int8_run run = rounded(x);
    EXPECT_EQ(run.scale, 1.0F);
    EXPECT_EQ(run.values[0], 127);
    EXPECT_EQ(run.values[1], -127);
    EXPECT_EQ(run.values[2], 0);
    EXPECT_EQ(run.values[3], 2);
    EXPECT_EQ(run.values[4], -2);
    EXPECT_EQ(run.values[31], -4);
    EXPECT_EQ(run.sums[0], 0);
    EXPECT_EQ(run.sums[1], -4);
  }
}

TEST(multiply_few, of_nothing_but_tiny_or_zero_activations_is_zero) {
  const file_matrix a = random_matrix(dtype::q4_1, 20, 64, 26);
  const weight_matrix w = made(std::array{a.source()}, form::as_stored);
  std::vector<float> x(64, 0.0F);
  for (int i = 32; i < 64; ++i) x[static_cast<std::size_t>(i)] = 1e-38F;
  for (const cpu_path path : all_paths()) {
    const with_path limit(path);
    for (const float y : few(w, 1, x.data())) EXPECT_EQ(y, 0.0F);
  }
}

TEST(multiply_few, shows_a_broken_activation_in_its_own_row_only) {
  for (const float broken : {std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()})
    for (const dtype type : block_types())
      for (const cpu_path path : all_paths()) {
        const with_path limit(path);
        const file_matrix a = random_matrix(type, 20, 256, 27);
        const weight_matrix w = made(std::array{a.source()}, form::as_stored);
        std::vector<float> x = random_activations(3 * 256, 28);
        x[256 + 77] = broken;
        const std::vector<float> y = few(w, 3, x.data());
        for (std::size_t i = 0; i < 60; ++i)
          ASSERT_EQ(std::isnan(y[i]), i >= 20 && i < 40)
              << to_string(type) << " " << to_string(path) << " " << i;
      }
}

/// The greatest integers everywhere: no sum may saturate.
TEST(multiply_few, survives_the_extreme_integers) {
  for (const dtype type : block_types())
    for (const int byte : {0x00, 0x7f, 0x80, 0xff})
      for (const float sign : {1.0F, -1.0F}) {
        file_matrix a = random_matrix(type, 16, 256, 29);
        for (std::byte& b : a.bytes) b = std::byte(byte);
        const auto size = static_cast<std::size_t>(block_bytes(type));
        for (std::size_t at = 0; at < a.bytes.size(); at += size) {
          std::byte* block = a.bytes.data() + at;
          put_half(type == dtype::q6_k ? block + 208 : block, 1.0F);
          if (type == dtype::q4_1 || type == dtype::q4_k)
            put_half(block + 2, -1.0F);
        }
        SCOPED_TRACE(testing::Message() << to_string(type) << " " << byte);
        const std::vector<float> x(256, 127 * sign);
        expect_close(std::array{a.source()}, form::as_stored, 1, x);
      }
}

TEST(multiply_few, without_columns_gives_zeros_and_without_rows_nothing) {
  const std::byte somewhere{};
  const weight_matrix w = made(
      std::array{matrix_source{dtype::f32, &somewhere, 3, 0}}, form::f32);
  for (const float y : few(w, 2, nullptr)) EXPECT_EQ(y, 0.0F);
  multiply_few(w, 0, nullptr, nullptr);
}

} // namespace
} // namespace kvloom::kernels
