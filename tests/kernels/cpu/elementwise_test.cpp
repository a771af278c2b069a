#include "core/tensor/float_bits.hpp"
#include "kernels/api/elementwise.hpp"
#include "kernels/reference/elementwise.hpp"
#include "tests/kernels/cpu/attention_case.hpp"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kvloom::kernels {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal_values(std::int64_t n, std::uint64_t seed,
                                 float size = 1) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) x = normal(bits) * size;
  return out;
}

/// Bit patterns of f32: every exponent, dense around the ties of bf16 and f16.
std::vector<float> telling_values() {
  std::vector<float> out;
  for (std::uint32_t sign : {0U, 0x80000000U})
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
      for (std::uint32_t high = 0; high < 8; ++high)
        for (std::uint32_t low :
             {0U, 1U, 0xfffU, 0x1000U, 0x1001U, 0x1fffU, 0x2000U, 0x2fffU,
              0x3000U, 0x3001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU, 0xfffffU})
          out.push_back(std::bit_cast<float>(sign | (exponent << 23)
                                             | (high << 20 | low)));
  return out;
}

} // namespace

TEST(elementwise, rms_norm_of_any_width) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const std::int64_t width : {1, 3, 16, 64, 67, 576, 960, 4096, 4099}) {
      const std::int64_t n_rows = 5, x_stride = width + 3, y_stride = width + 1;
      auto x = normal_values(n_rows * x_stride, 1, 3);
      const auto weight = normal_values(width, 2);
      std::vector<float> y(static_cast<std::size_t>(n_rows * y_stride), -7);
      const auto before = x;
      rms_norm(n_rows, width, x.data(), x_stride, weight.data(), 1e-5F,
               y.data(), y_stride);
      EXPECT_EQ(x, before);
      for (std::int64_t r = 0; r < n_rows; ++r) {
        const std::vector<double> row(x.begin() + r * x_stride,
                                      x.begin() + r * x_stride + width);
        std::vector<double> wanted(row.size());
        rms_norm_reference(width, row.data(), weight.data(), 1e-5F,
                           wanted.data());
        for (std::int64_t c = 0; c < width; ++c)
          ASSERT_NEAR(y[static_cast<std::size_t>(r * y_stride + c)],
                      wanted[static_cast<std::size_t>(c)],
                      1e-6
                          * (1 + std::abs(wanted[static_cast<std::size_t>(c)])))
              << to_string(path) << " width " << width;
        EXPECT_EQ(y[static_cast<std::size_t>(r * y_stride + width)], -7);
      }
      // In place.
      rms_norm(n_rows, width, x.data(), x_stride, weight.data(), 1e-5F,
               x.data(), x_stride);
      for (std::int64_t r = 0; r < n_rows; ++r)
        EXPECT_EQ(std::memcmp(x.data() + r * x_stride, y.data() + r * y_stride,
                              static_cast<std::size_t>(width) * 4),
                  0);
    }
  }
}

TEST(elementwise, rms_norm_of_zeros_and_nan) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    const std::vector<float> weight(40, 2);
    std::vector<float> x(80, 0);
    x[45] = not_a_number;
    std::vector<float> y(80);
    rms_norm(2, 40, x.data(), 40, weight.data(), 1e-6F, y.data(), 40);
    for (std::size_t c = 0; c < 40; ++c) {
      EXPECT_EQ(y[c], 0);
      EXPECT_TRUE(std::isnan(y[40 + c]));
    }
  }
}

TEST(elementwise, add_rms_norm_is_the_sum_and_its_norm) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const std::int64_t width : {5, 576, 1031}) {
      const std::int64_t n_rows = 70;
      auto residual = normal_values(n_rows * width, 1);
      const auto delta = normal_values(n_rows * width, 2);
      const auto weight = normal_values(width, 3);
      auto sum = residual;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += delta[i];
      std::vector<float> wanted(sum.size()), y(sum.size());
      rms_norm(n_rows, width, sum.data(), width, weight.data(), 1e-5F,
               wanted.data(), width);
      add_rms_norm(n_rows, width, residual.data(), delta.data(), weight.data(),
                   1e-5F, y.data());
      EXPECT_EQ(residual, sum);
      EXPECT_EQ(y, wanted);
    }
  }
}

TEST(elementwise, swiglu) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const std::int64_t width : {1, 16, 50, 1536}) {
      const std::int64_t n_rows = 30;
      auto both = normal_values(n_rows * 2 * width, 1, 20);
      both[0] = 0;
      std::vector<float> a(static_cast<std::size_t>(n_rows * width));
      swiglu(n_rows, width, both.data(), both.data() + width, 2 * width,
             a.data());
      for (std::int64_t r = 0; r < n_rows; ++r)
        for (std::int64_t c = 0; c < width; ++c) {
          const double gate = both[static_cast<std::size_t>(r * 2 * width + c)];
          const double wanted = swiglu_reference(
              gate, both[static_cast<std::size_t>(r * 2 * width + width + c)]);
          ASSERT_NEAR(a[static_cast<std::size_t>(r * width + c)], wanted,
                      2e-7 * (4 + std::abs(gate)) * std::abs(wanted) + 1e-30)
              << to_string(path);
        }
    }
  }
}

TEST(elementwise, swiglu_at_the_ends) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    const std::vector<float> gate{-1e30F, -200,  -89, -87,      87,
                                  200,    1e30F, 0,   infinity, not_a_number};
    const std::vector<float> up(gate.size(), 1);
    std::vector<float> a(gate.size());
    swiglu(1, static_cast<std::int64_t>(gate.size()), gate.data(), up.data(),
           static_cast<std::int64_t>(gate.size()), a.data());
    EXPECT_NEAR(a[0], 0, 1e-7);
    EXPECT_NEAR(a[1], 0, 1e-30);
    EXPECT_NEAR(a[2], 0, 1e-30);
    EXPECT_NEAR(a[3], -87 * std::exp(-87.0), 1e-40);
    EXPECT_EQ(a[4], 87);
    EXPECT_EQ(a[5], 200);
    EXPECT_EQ(a[6], 1e30F);
    EXPECT_EQ(a[7], 0);
    EXPECT_EQ(a[8], infinity);
    EXPECT_TRUE(std::isnan(a[9]));
  }
}

TEST(elementwise, narrow_rounds_to_nearest_even) {
  const auto values = telling_values();
  const auto n = static_cast<std::int64_t>(values.size());
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const dtype type : {dtype::bf16, dtype::f16}) {
      std::vector<std::uint16_t> out(values.size());
      narrow(n, values.data(), type, out.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) {
          ASSERT_TRUE(std::isnan(type == dtype::bf16 ? bf16_to_f32(out[i])
                                                     : f16_to_f32(out[i])));
          continue;
        }
        ASSERT_EQ(out[i], type == dtype::bf16 ? f32_to_bf16(values[i])
                                              : f32_to_f16(values[i]))
            << to_string(path) << " " << to_string(type) << " " << values[i];
      }
    }
    std::vector<float> copy(values.size());
    narrow(n, values.data(), dtype::f32, copy.data());
    EXPECT_EQ(std::memcmp(copy.data(), values.data(), values.size() * 4), 0);
  }
}

TEST(elementwise, widen_is_exact_for_every_pattern) {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    patterns[i] = static_cast<std::uint16_t>(i);
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const dtype type : {dtype::bf16, dtype::f16}) {
      std::vector<float> out(patterns.size());
      widen(65536, type, patterns.data(), out.data());
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const float wanted = type == dtype::bf16 ? bf16_to_f32(patterns[i])
                                                 : f16_to_f32(patterns[i]);
        if (std::isnan(wanted))
          ASSERT_TRUE(std::isnan(out[i]));
        else
          ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]),
                    std::bit_cast<std::uint32_t>(wanted))
              << to_string(path) << " " << to_string(type) << " " << i;
      }
    }
  }
}

TEST(elementwise, short_runs_touch_nothing_else) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const dtype type : {dtype::bf16, dtype::f16})
      for (std::int64_t n = 0; n < 40; ++n) {
        const auto values = normal_values(n, 1);
        std::vector<std::uint16_t> half(static_cast<std::size_t>(n) + 1,
                                        0xabcd);
        narrow(n, values.data(), type, half.data());
        EXPECT_EQ(half.back(), 0xabcd);
        std::vector<float> back(static_cast<std::size_t>(n) + 1, -7);
        widen(n, type, half.data(), back.data());
        EXPECT_EQ(back.back(), -7);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
          EXPECT_NEAR(back[i], values[i], 0.01 * std::abs(values[i]));
      }
  }
}

TEST(elementwise, same_bits_for_any_number_of_threads) {
  const std::int64_t n_rows = 97, width = 1000;
  const auto x = normal_values(n_rows * width, 1);
  const auto weight = normal_values(width, 2);
  std::vector<float> one(x.size()), two(x.size());
  tbb::task_arena(1).execute([&] {
    rms_norm(n_rows, width, x.data(), width, weight.data(), 1e-5F, one.data(),
             width);
  });
  tbb::task_arena(2).execute([&] {
    rms_norm(n_rows, width, x.data(), width, weight.data(), 1e-5F, two.data(),
             width);
  });
  EXPECT_EQ(one, two);
}

} // namespace kvloom::kernels
