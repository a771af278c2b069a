#include "kernels/api/linear.hpp"
#include "kernels/reference/linear_reference.hpp"
#include "linear_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kvloom::kernels {
namespace {

using form = weight_matrix::form;

weight_matrix made(const file_matrix& part, form as) {
  auto matrix = weight_matrix::make(std::array{part.source()}, as);
  EXPECT_TRUE(matrix) << to_string(matrix.error());
  return std::move(*matrix);
}

std::vector<float> many(const weight_matrix& w, std::int64_t n_rows,
                        const float* x) {
  std::vector<float> y(static_cast<std::size_t>(n_rows * w.rows()),
                       std::numeric_limits<float>::quiet_NaN());
  multiply_many(w, n_rows, x, y.data());
  return y;
}

struct shape {
  std::int64_t n_rows, columns, outputs;
};

// One tile, several tiles down and across, ragged ends, single rows.
constexpr shape shapes[]
    = {{1, 64, 48},    {2, 576, 100},  {31, 33, 7},    {130, 256, 65},
       {600, 64, 300}, {40, 96, 2100}, {1, 128, 3000}, {1100, 32, 40}};

TEST(multiply_many, equals_float64) {
  for (const shape& s : shapes)
    for (const form as : {form::f32, form::bf16}) {
      SCOPED_TRACE(testing::Message()
                   << s.n_rows << "x" << s.columns << "x" << s.outputs << " "
                   << static_cast<int>(as));
      const bool narrow = as == form::bf16;
      const file_matrix a = random_matrix(dtype::f32, s.outputs, s.columns, 31);
      const std::vector<float> x = random_activations(s.n_rows * s.columns, 32);
      const auto wanted = reference::multiply(
          std::array{a.source()}, narrow,
          narrow ? reference::activations::bf16 : reference::activations::exact,
          s.n_rows, x.data());
      const std::vector<float> y = many(made(a, as), s.n_rows, x.data());
      for (std::size_t i = 0; i < y.size(); ++i) {
        // The result of bf16 is rounded to 8 bits.
        const double rounding = narrow ? 0x1p-8 * std::fabs(wanted.y[i]) : 0;
        ASSERT_NEAR(y[i], wanted.y[i], rounding + 3e-6 * wanted.magnitude[i])
            << i;
      }
    }
}

TEST(multiply_many, gives_the_same_bits_on_one_and_two_threads) {
  for (const shape& s : shapes)
    for (const form as : {form::f32, form::bf16}) {
      const weight_matrix w
          = made(random_matrix(dtype::f32, s.outputs, s.columns, 33), as);
      const std::vector<float> x = random_activations(s.n_rows * s.columns, 34);
      std::vector<float> one;
      std::vector<float> two;
      on_threads(1, [&] { one = many(w, s.n_rows, x.data()); });
      on_threads(2, [&] { two = many(w, s.n_rows, x.data()); });
      EXPECT_TRUE(same_bits(one, two))
          << s.n_rows << "x" << s.columns << "x" << s.outputs << " "
          << static_cast<int>(as);
    }
}

TEST(multiply_many, gives_the_same_bits_wherever_the_rows_lie) {
  for (const form as : {form::f32, form::bf16}) {
    const weight_matrix w = made(random_matrix(dtype::f32, 300, 96, 35), as);
    const std::vector<float> x = random_activations(150 * 96, 36);
    const std::vector<float> wanted = many(w, 150, x.data());
    for (const std::size_t shift : {1, 3}) {
      std::vector<float> moved(x.size() + shift);
      std::copy(x.begin(), x.end(), moved.begin() + shift);
      std::vector<float> y(wanted.size() + shift);
      multiply_many(w, 150, moved.data() + shift, y.data() + shift);
      EXPECT_TRUE(same_bits({y.begin() + shift, y.end()}, wanted)) << shift;
    }
  }
}

TEST(multiply_many, agrees_with_multiply_few) {
  const weight_matrix w
      = made(random_matrix(dtype::q8_0, 500, 512, 37), form::f32);
  const std::vector<float> x = random_activations(4 * 512, 38);
  const std::vector<float> y = many(w, 4, x.data());
  std::vector<float> few(y.size());
  multiply_few(w, 4, x.data(), few.data());
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], few[i], 2e-4);
}

TEST(multiply_many, shows_a_broken_activation_in_its_own_row_only) {
  for (const form as : {form::f32, form::bf16}) {
    const weight_matrix w = made(random_matrix(dtype::f32, 40, 64, 39), as);
    std::vector<float> x = random_activations(70 * 64, 40);
    x[64 + 5] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> y = many(w, 70, x.data());
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(std::isnan(y[i]), i >= 40 && i < 80) << i;
  }
}

TEST(multiply_many, refuses_faults_of_the_caller) {
  const file_matrix a = random_matrix(dtype::q8_0, 4, 32, 41);
  const weight_matrix stored = made(a, form::as_stored);
  const weight_matrix wide = made(a, form::f32);
  std::vector<float> x(32);
  std::vector<float> y(4);
  EXPECT_THROW(multiply_many(stored, 1, x.data(), y.data()), std::logic_error);
  EXPECT_THROW(multiply_many(wide, -1, x.data(), y.data()), std::logic_error);
  EXPECT_THROW(multiply_many(wide, 1, nullptr, y.data()), std::logic_error);
  EXPECT_THROW(multiply_many(wide, 1, x.data(), nullptr), std::logic_error);
  multiply_many(wide, 0, nullptr, nullptr);
}

TEST(multiply_many, without_columns_gives_zeros) {
  const std::byte somewhere{};
  const auto w = weight_matrix::make(
      std::array{matrix_source{dtype::f32, &somewhere, 3, 0}}, form::bf16);
  ASSERT_TRUE(w);
  for (const float y : many(*w, 2, nullptr)) EXPECT_EQ(y, 0.0F);
}

} // namespace
} // namespace kvloom::kernels
