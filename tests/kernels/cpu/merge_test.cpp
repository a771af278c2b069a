#include "kernels/reference/attention.hpp"
#include "tests/kernels/cpu/attention_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvloom::kernels {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The keys [first, first + n) of the problem as a segment of its own.
attention_params part_of(const attention_case& problem, std::int64_t first,
                         std::int64_t n) {
  attention_params p = problem.params();
  const std::int64_t offset
      = row_bytes(problem.shape.type, first * problem.shape.head_dim);
  p.segment.k = problem.k.data() + offset;
  p.segment.v = problem.v.data() + offset;
  p.segment.first_position += first;
  p.segment.n_keys = n;
  return p;
}

} // namespace

TEST(merge, segments_in_any_order_are_the_whole) {
  struct piece {
    std::int64_t first, n;
  };
  const std::vector<std::vector<piece>> splits{
      {{0, 500}},
      {{0, 1}, {1, 499}},
      {{250, 250}, {0, 250}},
      {{400, 100}, {0, 0}, {100, 200}, {300, 100}, {0, 100}},
      {{497, 3}, {0, 17}, {17, 480}}};
  for (const dtype type : {dtype::f32, dtype::bf16, dtype::f16})
    for (const std::int64_t n_rows : {1, 8, 300})
      for (const std::int64_t window : {0, 120}) {
        const attention_case problem({.n_rows = n_rows,
                                      .n_q_heads = 3,
                                      .n_kv_heads = 1,
                                      .head_dim = 64,
                                      .n_keys = 500,
                                      .type = type,
                                      .window = window,
                                      .first_row = 500 - n_rows},
                                     8);
        for (const cpu_path path : paths_here()) {
          const path_limit limit(path);
          for (const auto& split : splits) {
            attention_output all;
            for (const piece& p : split) {
              const attention_output part
                  = attend_case(part_of(problem, p.first, p.n));
              if (all.o.empty()) {
                all = part;
                continue;
              }
              merge_partials(n_rows, 3, 64, all.o.data(), all.lse.data(),
                             part.o.data(), part.lse.data());
            }
            SCOPED_TRACE(std::string(to_string(path)) + " " + to_string(type));
            expect_near_reference(problem, all,
                                  uses_tiles(problem.shape, path));
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
}

TEST(merge, equals_the_reference) {
  const std::vector<float> lses{-infinity, -1e4F, -700, -3.5F, 0,
                                0.25F,     10,    88,   1000,  1e4F};
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    for (const float a : lses)
      for (const float b : lses) {
        std::vector<float> o_a(48), o_b(48);
        for (std::size_t c = 0; c < 48; ++c) {
          o_a[c] = a == -infinity ? 0 : static_cast<float>(c) / 7 - 3;
          o_b[c] = b == -infinity ? 0 : 5 - static_cast<float>(c * c) / 99;
        }
        std::vector<double> wide_a(o_a.begin(), o_a.end());
        const std::vector<double> wide_b(o_b.begin(), o_b.end());
        float lse_a = a;
        double wide_lse_a = a;
        const double wide_lse_b = b;
        merge_partials(1, 1, 48, o_a.data(), &lse_a, o_b.data(), &b);
        merge_partials_reference(1, 1, 48, wide_a.data(), &wide_lse_a,
                                 wide_b.data(), &wide_lse_b);
        if (std::isinf(wide_lse_a))
          EXPECT_EQ(lse_a, -infinity);
        else
          EXPECT_NEAR(lse_a, wide_lse_a, 1e-6 * (1 + std::abs(wide_lse_a)));
        for (std::size_t c = 0; c < 48; ++c)
          EXPECT_NEAR(o_a[c], wide_a[c], 1e-5) << a << " " << b;
      }
  }
}

TEST(merge, a_partial_of_nothing_changes_no_bit) {
  std::vector<float> o_a{1.0F / 3}, o_b{0};
  float lse_a = 0.7F;
  const float nothing = -infinity;
  merge_partials(1, 1, 1, o_a.data(), &lse_a, o_b.data(), &nothing);
  EXPECT_EQ(o_a[0], 1.0F / 3);
  EXPECT_EQ(lse_a, 0.7F);
  float lse_b = -infinity;
  merge_partials(1, 1, 1, o_b.data(), &lse_b, o_a.data(), &lse_a);
  EXPECT_EQ(lse_b, 0.7F);
  EXPECT_EQ(o_b[0], 1.0F / 3);
}

TEST(merge, many_heads_at_once) {
  const std::int64_t n_rows = 211;
  std::vector<float> o_a(n_rows * 5 * 16, 1), o_b(n_rows * 5 * 16, 3);
  std::vector<float> lse_a(n_rows * 5, 0), lse_b(n_rows * 5, 0);
  merge_partials(n_rows, 5, 16, o_a.data(), lse_a.data(), o_b.data(),
                 lse_b.data());
  for (const float x : o_a) ASSERT_FLOAT_EQ(x, 2);
  for (const float x : lse_a) ASSERT_FLOAT_EQ(x, std::log(2.0F));
}

} // namespace kvloom::kernels
