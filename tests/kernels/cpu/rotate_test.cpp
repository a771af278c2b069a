#include "kernels/api/elementwise.hpp"
#include "kernels/reference/elementwise.hpp"
#include "tests/kernels/cpu/attention_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kvloom::kernels {

namespace {

std::vector<double> frequencies(std::int64_t head_dim, double base = 10000) {
  std::vector<double> out;
  for (std::int64_t j = 0; j < head_dim / 2; ++j)
    out.push_back(std::pow(base, -2.0 * static_cast<double>(j)
                                     / static_cast<double>(head_dim)));
  return out;
}

std::vector<float> heads_of(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) x = normal(bits);
  return out;
}

void turn(std::vector<float>& heads, std::int64_t head_dim,
          std::int64_t position) {
  const auto inv_freq = frequencies(head_dim);
  rotate(1, static_cast<std::int64_t>(heads.size()) / head_dim, head_dim,
         heads.data(), static_cast<std::int64_t>(heads.size()), &position,
         inv_freq);
}

double worst_difference(const std::vector<float>& a,
                        const std::vector<float>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(double{a[i]} - b[i]));
  return worst;
}

} // namespace

TEST(rotate, exact_at_any_position) {
  const std::vector<std::int64_t> positions{
      0,        1,        2,        3,          100,        2047,
      2048,     16383,    131071,   16777215,   16777216,   16777217,
      16777219, 33554433, 99999999, 2147483647, 4294967297, -1,
      -7,       -16384,   -16777217};
  const auto n_rows = static_cast<std::int64_t>(positions.size());
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const std::int64_t head_dim : {2, 16, 64, 80, 96, 128, 256})
      for (const double magnitude : {1.0, 1.4159}) {
        const std::int64_t n_heads = 3, stride = n_heads * head_dim + 5;
        auto heads = heads_of(n_rows * stride, 1);
        const auto before = heads;
        const auto inv_freq = frequencies(head_dim);
        rotate(n_rows, n_heads, head_dim, heads.data(), stride,
               positions.data(), inv_freq, magnitude);
        for (std::int64_t r = 0; r < n_rows; ++r) {
          std::vector<double> wanted(before.begin() + r * stride,
                                     before.begin() + r * stride
                                         + n_heads * head_dim);
          rotate_reference(n_heads, head_dim, wanted.data(),
                           positions[static_cast<std::size_t>(r)], inv_freq,
                           magnitude);
          for (std::int64_t c = 0; c < stride; ++c) {
            const auto at = static_cast<std::size_t>(r * stride + c);
            if (c >= n_heads * head_dim)
              ASSERT_EQ(heads[at], before[at]);
            else
              ASSERT_NEAR(heads[at], wanted[static_cast<std::size_t>(c)],
                          1.5e-6)
                  << to_string(path) << " head_dim " << head_dim << " position "
                  << positions[static_cast<std::size_t>(r)];
          }
        }
      }
  }
}

// Cosine and sine alone: rotating (1, 0) gives them, each within half a unit of
// the last place and a little more.
TEST(rotate, sines_are_rounded_once) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    const auto inv_freq = frequencies(128);
    for (std::int64_t position = 0; position < 70000; position += 137) {
      std::vector<float> head(128, 0);
      std::fill_n(head.begin(), 64, 1.0F);
      rotate(1, 1, 128, head.data(), 128, &position, inv_freq);
      for (std::size_t j = 0; j < 64; ++j) {
        const double angle = static_cast<double>(position) * inv_freq[j];
        ASSERT_NEAR(head[j], std::cos(angle),
                    0x1.02p-24 * std::abs(std::cos(angle)) + 1e-12);
        ASSERT_NEAR(head[64 + j], std::sin(angle),
                    0x1.02p-24 * std::abs(std::sin(angle)) + 1e-12);
      }
    }
  }
}

TEST(rotate, moving_is_rotating_by_the_difference) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const std::int64_t from : {0, 5, 2000})
      for (const std::int64_t shift : {1, 16, 511, 4096, 16384}) {
        auto moved = heads_of(128, 2);
        auto direct = moved;
        turn(moved, 64, from);
        turn(moved, 64, shift);
        turn(direct, 64, from + shift);
        EXPECT_LE(worst_difference(moved, direct), 2e-6);
        turn(moved, 64, -shift);
        auto start = heads_of(128, 2);
        turn(start, 64, from);
        EXPECT_LE(worst_difference(moved, start), 2e-6);
      }
  }
}

// Rounding adds up like a random walk and does not run away.
TEST(rotate, a_thousand_moves_there_and_back) {
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    const auto start = heads_of(64, 3);
    auto heads = start;
    for (int i = 0; i < 500; ++i) {
      turn(heads, 64, 37 + i);
      turn(heads, 64, -37 - i);
    }
    EXPECT_LE(worst_difference(heads, start), 1e-5);
  }
}

} // namespace kvloom::kernels
