#include "core/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace kvloom {
namespace {

TEST(random_stream, same_seed_and_name_give_the_same_numbers) {
  random_stream a(7, "sampling");
  random_stream b(7, "sampling");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(random_stream, names_and_seeds_separate_streams) {
  random_stream a(7, "sampling");
  random_stream b(7, "order");
  random_stream c(8, "sampling");
  const auto first = a.next();
  EXPECT_NE(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(random_stream, stays_what_it_was) {
  // Recorded once; a change would silently change every seeded experiment.
  random_stream stream(1, "golden");
  EXPECT_EQ(stream.next(), 0xfb2a01a64b6af034ULL);
  EXPECT_EQ(stream.next(), 0xa541fc5db4cfe6d0ULL);
}

TEST(random_stream, below_is_even) {
  random_stream stream(3, "below");
  std::array<int, 6> counts{};
  constexpr int draws = 60000;
  for (int i = 0; i < draws; ++i) ++counts.at(stream.below(6));
  for (int count : counts) EXPECT_NEAR(count, draws / 6, 400);
}

TEST(random_stream, normal_has_mean_zero_and_variance_one) {
  random_stream stream(5, "normal");
  constexpr int draws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = stream.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / draws, 0, 0.02);
  EXPECT_NEAR(squares / draws, 1, 0.02);
}

} // namespace
} // namespace kvloom
