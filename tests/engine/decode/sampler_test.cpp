#include "engine/decode/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace kvloom::engine {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

std::map<token_id, int> drawn(const sampling_options& options,
                              const std::vector<float>& logits, int n,
                              std::int64_t n_ids) {
  sampler choice(options, "sampling", n_ids);
  std::map<token_id, int> counts;
  for (int i = 0; i < n; ++i) ++counts[choice.choose(logits)];
  return counts;
}

TEST(sampler, greedy_takes_the_lowest_of_the_largest) {
  const std::vector<float> logits = {1, 3, 3, nan, 2, 9};
  EXPECT_EQ(sampler({}, "s", 5).choose(logits), 1);
  EXPECT_EQ(sampler({}, "s", 6).choose(logits), 5);
  EXPECT_EQ(sampler({}, "s", 100).choose(logits), 5);
}

TEST(sampler, never_chooses_padding_or_nan) {
  const std::vector<float> logits = {0, nan, 0, 50, inf};
  for (const auto& [id, count] :
       drawn({.temperature = 5, .seed = 3}, logits, 500, 3))
    EXPECT_TRUE(id == 0 || id == 2) << id;
}

TEST(sampler, frequencies_follow_the_softmax) {
  std::vector<float> logits;
  const std::vector<double> share = {0.5, 0.25, 0.2, 0.05};
  for (const double p : share)
    logits.push_back(static_cast<float>(2 * std::log(p)));
  const int n = 40000;
  auto counts = drawn({.temperature = 2, .seed = 1}, logits, n, 4);
  for (token_id id = 0; id < 4; ++id) {
    const double p = share[static_cast<std::size_t>(id)];
    EXPECT_NEAR(counts[id], n * p, 5 * std::sqrt(n * p * (1 - p)));
  }
}

TEST(sampler, top_k_and_top_p_cut_the_tail) {
  const std::vector<double> share = {0.05, 0.5, 0.2, 0.25};
  std::vector<float> logits;
  for (const double p : share)
    logits.push_back(static_cast<float>(std::log(p)));
  auto two = drawn({.temperature = 1, .top_k = 2, .seed = 1}, logits, 9000, 4);
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two[1], 6000, 250);
  EXPECT_NEAR(two[3], 3000, 250);
  // 0.5 + 0.25 reaches 0.7; 0.5 alone reaches 0.5 and less.
  EXPECT_EQ(
      drawn({.temperature = 1, .top_p = 0.7, .seed = 1}, logits, 500, 4).size(),
      2U);
  EXPECT_EQ(
      drawn({.temperature = 1, .top_p = 0.4, .seed = 1}, logits, 500, 4).size(),
      1U);
  EXPECT_EQ(
      drawn({.temperature = 1, .top_p = 0, .seed = 1}, logits, 50, 4).size(),
      1U);
  // Top-k comes first: of 2/3 and 1/3, the larger alone reaches 0.6.
  EXPECT_EQ(drawn({.temperature = 1, .top_k = 2, .top_p = 0.6, .seed = 1},
                  logits, 500, 4)
                .size(),
            1U);
}

TEST(sampler, top_p_over_a_flat_distribution_keeps_enough) {
  const std::vector<float> logits(2000, 1.0F);
  const auto counts
      = drawn({.temperature = 1, .top_p = 0.5, .seed = 2}, logits, 20000, 2000);
  EXPECT_EQ(counts.rbegin()->first, 999); // lower ids first at ties
  EXPECT_GT(counts.size(), 990U);
}

TEST(sampler, seed_and_name_decide) {
  const std::vector<float> logits(50, 0.0F);
  const auto run = [&](std::uint64_t seed, const char* name) {
    sampler choice({.temperature = 1, .seed = seed}, name, 50);
    std::vector<token_id> ids(20);
    for (token_id& id : ids) id = choice.choose(logits);
    return ids;
  };
  EXPECT_EQ(run(1, "a"), run(1, "a"));
  EXPECT_NE(run(1, "a"), run(2, "a"));
  EXPECT_NE(run(1, "a"), run(1, "b"));
}

TEST(sampler, extreme_logits_stay_choices) {
  EXPECT_EQ(sampler({.temperature = 1}, "s", 3)
                .choose(std::vector<float>{-inf, inf, 0}),
            1);
  EXPECT_EQ(sampler({.temperature = 1e-9}, "s", 3)
                .choose(std::vector<float>{1, 1000, 999}),
            1);
  EXPECT_EQ(sampler({.temperature = 1}, "s", 2)
                .choose(std::vector<float>{-inf, -inf}),
            0);
}

TEST(largest_logits, order_ties_and_bounds) {
  const std::vector<float> logits = {1, 5, nan, 5, 2, 99};
  const auto top = largest_logits(logits, 3, 5);
  const std::vector<std::pair<token_id, float>> expected
      = {{1, 5.0F}, {3, 5.0F}, {4, 2.0F}};
  EXPECT_EQ(top, expected);
  EXPECT_EQ(largest_logits(logits, 10, 5).size(), 4U);
  EXPECT_TRUE(largest_logits(logits, 0, 5).empty());
  EXPECT_TRUE(largest_logits({}, 3, 5).empty());
}

} // namespace
} // namespace kvloom::engine
