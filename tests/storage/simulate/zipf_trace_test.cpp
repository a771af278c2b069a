#include "storage/simulate/zipf_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kvloom::storage {
namespace {

zipf_options options(std::string_view text) {
  const auto read = read_zipf_options(text);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(zipf_options{});
}

std::vector<double> frequencies(const trace& made, std::size_t from,
                                std::size_t to) {
  std::vector<double> out(made.tokens.size(), 0.0);
  for (auto use = made.first_use[from]; use < made.first_use[to]; ++use)
    out[made.uses[use]] += 1.0 / static_cast<double>(to - from);
  return out;
}

TEST(zipf_trace, draws_by_zipfs_law) {
  const auto made
      = make_zipf_trace(options("n=50,s=1.1,requests=200000,chunks=1"), 3);
  const auto seen = frequencies(made, 0, 200'000);
  double sum = 0;
  for (int k = 1; k <= 50; ++k) sum += std::pow(k, -1.1);
  for (int k = 1; k <= 50; ++k) {
    const auto p = std::pow(k, -1.1) / sum;
    // Five standard deviations.
    EXPECT_NEAR(seen[static_cast<std::size_t>(k - 1)], p,
                5 * std::sqrt(p / 200'000));
  }
}

TEST(zipf_trace, a_request_has_different_chunks) {
  const auto made
      = make_zipf_trace(options("n=9,s=3,requests=500,chunks=8,repeat=0.5"), 3);
  for (std::size_t r = 0; r < made.n_requests(); ++r) {
    const std::set<std::uint32_t> distinct(
        made.uses.begin() + static_cast<std::ptrdiff_t>(made.first_use[r]),
        made.uses.begin() + static_cast<std::ptrdiff_t>(made.first_use[r + 1]));
    EXPECT_EQ(distinct.size(), 8u);
  }
}

TEST(zipf_trace, sizes_lie_in_their_range_and_reach_its_ends) {
  const auto made
      = make_zipf_trace(options("n=1000,requests=1,tokens=3..7"), 3);
  EXPECT_EQ(*std::min_element(made.tokens.begin(), made.tokens.end()), 3);
  EXPECT_EQ(*std::max_element(made.tokens.begin(), made.tokens.end()), 7);
}

TEST(zipf_trace, drift_moves_what_is_popular) {
  const auto made = make_zipf_trace(
      options("n=100,s=2,requests=20000,chunks=1,drift=0.001"), 3);
  const auto first = frequencies(made, 0, 1000);
  const auto later = frequencies(made, 10'000, 11'000);
  EXPECT_EQ(std::max_element(first.begin(), first.end()) - first.begin(), 0);
  EXPECT_EQ(std::max_element(later.begin(), later.end()) - later.begin(), 10);
}

TEST(zipf_trace, repeat_draws_from_the_request_before) {
  const auto repeated = [](std::string_view text) {
    const auto made = make_zipf_trace(options(text), 3);
    std::size_t same = 0;
    for (std::size_t r = 1; r < made.n_requests(); ++r)
      same += made.uses[r] == made.uses[r - 1] ? 1 : 0;
    return static_cast<double>(same)
           / static_cast<double>(made.n_requests() - 1);
  };
  EXPECT_LT(repeated("n=10000,s=0,requests=5000,chunks=1"), 0.01);
  EXPECT_NEAR(repeated("n=10000,s=0,requests=5000,chunks=1,repeat=0.4"), 0.4,
              0.03);
}

TEST(zipf_trace, the_seed_decides) {
  const auto given = options("n=100,requests=50,tokens=1..50");
  const auto one = make_zipf_trace(given, 1), two = make_zipf_trace(given, 1),
             other = make_zipf_trace(given, 2);
  EXPECT_EQ(one.uses, two.uses);
  EXPECT_EQ(one.tokens, two.tokens);
  EXPECT_NE(one.uses, other.uses);
  EXPECT_NE(one.tokens, other.tokens);
}

TEST(zipf_trace, wrong_options_are_refused_by_name) {
  for (const auto& [text, named] :
       std::vector<std::pair<std::string, std::string>>{
           {"n", "KEY=VALUE"},
           {"m=5", "known: n, s"},
           {"n=0", "`n`"},
           {"n=5x", "`5x`"},
           {"n=-1", "`-1`"},
           {"s=-1", "`s`"},
           {"s=nan", "`nan`"},
           {"requests=1e6", "`requests`"},
           {"tokens=9..3", "range"},
           {"tokens=0..3", "range"},
           {"tokens=5..", "range"},
           {"repeat=1.5", "`repeat`"},
           {"drift=inf", "`drift`"},
           {"requests=500000000,chunks=9", "up to 1000000000"},
           {"n=3,chunks=4", "only n=3"},
           {"n=30,,s=1", "KEY=VALUE"}}) {
    const auto read = read_zipf_options(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::bad_input);
    EXPECT_THAT(read.error().message, testing::HasSubstr(named)) << text;
  }
}

} // namespace
} // namespace kvloom::storage
