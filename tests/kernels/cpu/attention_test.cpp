#include "kernels/api/attention.hpp"
#include "tests/kernels/cpu/attention_case.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace kvloom::kernels {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::array all_types{dtype::f32, dtype::bf16, dtype::f16};

std::string described(const attention_shape& s, cpu_path path) {
  return std::string(to_string(path)) + " " + to_string(s.type) + " rows "
         + std::to_string(s.n_rows) + " heads " + std::to_string(s.n_q_heads)
         + "/" + std::to_string(s.n_kv_heads) + " x "
         + std::to_string(s.head_dim) + " keys " + std::to_string(s.n_keys)
         + " first row " + std::to_string(s.first_row) + " window "
         + std::to_string(s.window);
}

void expect_all_paths(const attention_shape& shape, std::uint64_t seed = 1) {
  const attention_case problem(shape, seed);
  for (const cpu_path path : paths_here()) {
    const path_limit limit(path);
    SCOPED_TRACE(described(shape, path));
    expect_near_reference(problem, attend_case(problem.params()),
                          uses_tiles(shape, path));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size()
         && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

TEST(attention, every_head_dim_and_type) {
  for (std::int64_t head_dim = 16; head_dim <= 256; head_dim += 16)
    for (const dtype type : all_types)
      for (const std::int64_t n_rows : {1, 19})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 4,
                          .n_kv_heads = 2,
                          .head_dim = head_dim,
                          .n_keys = 83,
                          .type = type,
                          .first_row = 83 - n_rows});
}

TEST(attention, row_counts) {
  for (const dtype type : all_types)
    for (const std::int64_t n_rows :
         {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 85, 86, 129, 300})
      expect_all_paths({.n_rows = n_rows,
                        .n_q_heads = 3,
                        .n_kv_heads = 1,
                        .head_dim = 32,
                        .n_keys = n_rows,
                        .type = type});
}

TEST(attention, key_counts) {
  for (const dtype type : all_types)
    for (const std::int64_t n_keys :
         {0,  1,   2,   15,  16,  17,  31,  32,  33,  63,  64,
          65, 127, 128, 129, 255, 256, 257, 511, 513, 1000})
      for (const std::int64_t n_rows : {1, 10})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 2,
                          .n_kv_heads = 1,
                          .head_dim = 64,
                          .n_keys = n_keys,
                          .type = type,
                          .first_row = n_keys});
}

TEST(attention, query_heads_of_a_kv_head) {
  for (const dtype type : all_types)
    for (const std::int64_t group : {1, 2, 3, 4, 5, 7, 8, 16, 71, 257})
      for (const std::int64_t n_rows : {1, 9})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 2 * group,
                          .n_kv_heads = 2,
                          .head_dim = 32,
                          .n_keys = 70,
                          .type = type,
                          .first_row = 40});
}

TEST(attention, windows) {
  for (const dtype type : all_types)
    for (const std::int64_t window : {1, 2, 4, 31, 64, 100, 5000})
      for (const std::int64_t n_rows : {1, 6, 40})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 2,
                          .n_kv_heads = 1,
                          .head_dim = 64,
                          .n_keys = 300,
                          .type = type,
                          .window = window,
                          .first_row = 255});
}

// Window 4, 5 tokens: row 5 sees itself and the three keys before it.
TEST(attention, window_counts_the_row_itself) {
  attention_case problem(
      {.n_rows = 5, .head_dim = 16, .n_keys = 5, .window = 4}, 3);
  for (std::int64_t j = 0; j < 5; ++j)
    for (std::int64_t c = 0; c < 16; ++c) {
      problem.set_value(true, 0, j, c, 0);
      problem.set_value(false, 0, j, c, j == 0 ? 100.0F : 1.0F);
    }
  const attention_output out = attend_case(problem.params());
  EXPECT_FLOAT_EQ(out.o[4 * 16], 1.0F);
  EXPECT_FLOAT_EQ(out.lse[4], std::log(4.0F));
  EXPECT_FLOAT_EQ(out.o[3 * 16], (100.0F + 3.0F) / 4);
}

TEST(attention, stale_keys_are_seen_by_nobody) {
  for (const dtype type : all_types)
    for (const double share : {0.02, 0.15, 0.9, 1.0})
      for (const std::int64_t n_rows : {1, 8, 50})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 3,
                          .n_kv_heads = 1,
                          .head_dim = 64,
                          .n_keys = 333,
                          .type = type,
                          .first_row = 290,
                          .stale_share = share});
}

TEST(attention, explicit_positions) {
  for (const dtype type : all_types)
    for (const std::int64_t window : {0, 50})
      for (const std::int64_t n_rows : {4, 60})
        expect_all_paths({.n_rows = n_rows,
                          .n_q_heads = 2,
                          .n_kv_heads = 2,
                          .head_dim = 32,
                          .n_keys = 100,
                          .type = type,
                          .window = window,
                          .first_row = 170,
                          .explicit_positions = true,
                          .stale_share = 0.1});
}

// Rows of a blend: scattered, so that a task's rows see very unlike ranges.
TEST(attention, scattered_rows) {
  for (const dtype type : all_types)
    for (const std::int64_t window : {0, 10}) {
      attention_case problem({.n_rows = 40,
                              .n_q_heads = 4,
                              .n_kv_heads = 2,
                              .head_dim = 64,
                              .n_keys = 900,
                              .type = type,
                              .window = window},
                             5);
      for (std::size_t r = 0; r < 40; ++r)
        problem.row_positions[r] = static_cast<std::int64_t>(5 + r * 23);
      problem.row_positions[39] = 2; // before every key
      for (const cpu_path path : paths_here()) {
        const path_limit limit(path);
        SCOPED_TRACE(described(problem.shape, path));
        expect_near_reference(problem, attend_case(problem.params()),
                              uses_tiles(problem.shape, path));
      }
    }
}

TEST(attention, many_keys_of_few_tasks_are_split) {
  for (const dtype type : all_types)
    for (const std::int64_t n_rows : {1, 12})
      expect_all_paths({.n_rows = n_rows,
                        .n_q_heads = 3,
                        .n_kv_heads = 1,
                        .head_dim = 64,
                        .n_keys = 2777,
                        .type = type,
                        .first_row = 2765,
                        .stale_share = 0.05});
}

TEST(attention, nothing_visible_gives_nothing) {
  for (const dtype type : all_types)
    for (const std::int64_t n_rows : {1, 20})
      for (const cpu_path path : paths_here()) {
        const path_limit limit(path);
        const attention_case problem({.n_rows = n_rows,
                                      .n_q_heads = 2,
                                      .n_kv_heads = 1,
                                      .head_dim = 32,
                                      .n_keys = 40,
                                      .type = type,
                                      .first_row = -100},
                                     2);
        const attention_output out = attend_case(problem.params());
        for (const float x : out.o) ASSERT_EQ(x, 0.0F);
        for (const float x : out.lse) ASSERT_EQ(x, -infinity);
      }
}

TEST(attention, no_rows_is_no_work) {
  attend({});
}

TEST(attention, large_scores_stay_finite) {
  for (const dtype type : all_types)
    for (const std::int64_t n_rows : {1, 30})
      expect_all_paths({.n_rows = n_rows,
                        .n_q_heads = 2,
                        .n_kv_heads = 1,
                        .head_dim = 64,
                        .n_keys = 200,
                        .type = type,
                        .first_row = 170,
                        .score_size = 300});
}

TEST(attention, same_bits_for_any_number_of_threads) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                                  4);
  for (const dtype type : all_types)
    for (const std::int64_t n_rows : {1, 8, 12, 300}) {
      const attention_case problem({.n_rows = n_rows,
                                    .n_q_heads = 6,
                                    .n_kv_heads = 2,
                                    .head_dim = 64,
                                    .n_keys = 3000,
                                    .type = type,
                                    .first_row = 2700},
                                   9);
      for (const cpu_path path : paths_here()) {
        const path_limit limit(path);
        SCOPED_TRACE(described(problem.shape, path));
        std::array<attention_output, 4> outs;
        for (int threads = 1; threads <= 4; ++threads)
          tbb::task_arena(threads).execute([&] {
            outs[static_cast<std::size_t>(threads) - 1]
                = attend_case(problem.params());
          });
        for (const attention_output& out : outs) {
          EXPECT_TRUE(same_bits(outs[0].o, out.o));
          EXPECT_TRUE(same_bits(outs[0].lse, out.lse));
        }
      }
    }
}

// A draft is verified in several rows at once; the tokens must be those that
// one row at a time gives.
TEST(attention, few_rows_have_the_bits_of_one_row) {
  for (const dtype type : all_types)
    for (const std::int64_t window : {0, 77}) {
      const attention_case problem({.n_rows = 8,
                                    .n_q_heads = 6,
                                    .n_kv_heads = 2,
                                    .head_dim = 80,
                                    .n_keys = 700,
                                    .type = type,
                                    .window = window,
                                    .first_row = 500,
                                    .stale_share = 0.05},
                                   4);
      for (const cpu_path path : paths_here()) {
        const path_limit limit(path);
        SCOPED_TRACE(described(problem.shape, path));
        const attention_output all = attend_case(problem.params());
        attention_params one = problem.params();
        one.n_rows = 1;
        for (std::int64_t r = 0; r < 8; ++r) {
          one.q = problem.q.data() + r * one.q_row_stride;
          one.row_positions = problem.row_positions.data() + r;
          const attention_output row = attend_case(one);
          EXPECT_EQ(std::memcmp(row.o.data(), all.o.data() + r * 6 * 80,
                                row.o.size() * sizeof(float)),
                    0);
          EXPECT_EQ(std::memcmp(row.lse.data(), all.lse.data() + r * 6,
                                row.lse.size() * sizeof(float)),
                    0);
        }
      }
    }
}

TEST(attention, later_keys_change_nothing) {
  for (const dtype type : all_types) {
    attention_case problem({.n_rows = 64,
                            .n_q_heads = 2,
                            .n_kv_heads = 1,
                            .head_dim = 64,
                            .n_keys = 64,
                            .type = type},
                           6);
    for (const cpu_path path : paths_here()) {
      const path_limit limit(path);
      SCOPED_TRACE(described(problem.shape, path));
      const attention_output before = attend_case(problem.params());
      attention_case other = problem;
      for (std::int64_t j = 40; j < 64; ++j)
        for (std::int64_t c = 0; c < 64; ++c) {
          other.set_value(true, 0, j, c, 50);
          other.set_value(false, 0, j, c, -1e4F);
        }
      const attention_output after = attend_case(other.params());
      EXPECT_EQ(std::memcmp(before.o.data(), after.o.data(),
                            40 * 2 * 64 * sizeof(float)),
                0);
      EXPECT_NE(before.lse[40 * 2], after.lse[40 * 2]);
    }
  }
}

TEST(attention, a_nan_shows_in_the_rows_that_it_touches) {
  for (const dtype type : all_types)
    for (const std::int64_t n_rows : {4, 40}) {
      const attention_shape shape{
          .n_rows = n_rows, .head_dim = 32, .n_keys = n_rows, .type = type};
      for (const cpu_path path : paths_here()) {
        const path_limit limit(path);
        SCOPED_TRACE(described(shape, path));
        attention_case of_query(shape, 7);
        of_query.q[2 * 32 + 3] = not_a_number;
        const attention_output out = attend_case(of_query.params());
        for (std::size_t r = 0; r < out.lse.size(); ++r) {
          EXPECT_EQ(std::isnan(out.lse[r]), r == 2) << r;
          for (std::size_t c = 0; c < 32; ++c)
            EXPECT_EQ(std::isnan(out.o[r * 32 + c]), r == 2) << r;
        }
        attention_case of_key(shape, 7);
        of_key.set_value(true, 0, 3, 5, not_a_number);
        EXPECT_TRUE(std::isnan(attend_case(of_key.params()).lse.back()));
        attention_case of_value(shape, 7);
        of_value.set_value(false, 0, 3, 5, not_a_number);
        const attention_output seen = attend_case(of_value.params());
        EXPECT_TRUE(std::isnan(seen.o[seen.o.size() - 32 + 5]));
        EXPECT_FALSE(std::isnan(seen.o[seen.o.size() - 32 + 6]));
      }
    }
}

TEST(attention, shapes_that_no_path_supports_are_refused) {
  for (const std::int64_t head_dim : {0, 8, 24, 272}) {
    const attention_case problem(
        {.n_rows = 1, .head_dim = head_dim, .n_keys = 4}, 1);
    EXPECT_THROW(attend_case(problem.params()), std::logic_error) << head_dim;
  }
  const attention_case uneven({.n_q_heads = 3, .n_kv_heads = 2}, 1);
  EXPECT_THROW(attend_case(uneven.params()), std::logic_error);
}

} // namespace kvloom::kernels
