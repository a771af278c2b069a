#include "core/base/random.hpp"
#include "report/stats/statistics.hpp"
#include "tests/report/golden_file.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kvloom::report {
namespace {

std::vector<double> normal_values(std::size_t n, std::string_view name) {
  random_stream draw(3, name);
  std::vector<double> values(n);
  for (auto& one : values) one = 10 + draw.normal();
  return values;
}

/// Each value of a question of its own.
sample independent(const std::vector<double>& values) {
  sample of;
  for (const auto value : values) of.add(value, of.values.size());
  return of;
}

TEST(statistics, quantiles_are_numpys) {
  for (const auto& one : golden("golden_quantiles.json")) {
    auto values = one["values"].get<std::vector<double>>();
    std::sort(values.begin(), values.end());
    for (const auto& [q, wanted] : one["quantiles"].items())
      EXPECT_NEAR(quantile(values, std::stod(q)), wanted.get<double>(), 1e-12);
  }
}

TEST(statistics, intervals_are_those_of_theory) {
  for (const std::size_t n : {50U, 400U, 12000U}) {
    const auto values = normal_values(n, "theory");
    const auto [low, high] = mean_interval(independent(values));
    const double half = 1.96 / std::sqrt(static_cast<double>(n));
    EXPECT_NEAR((high - low) / 2, half, 0.2 * half) << n;
  }
}

TEST(statistics, intervals_cover_the_truth_as_often_as_they_say) {
  int covered = 0;
  for (int i = 0; i < 200; ++i) {
    const auto values = normal_values(60, "sample " + std::to_string(i));
    const auto [low, high] = mean_interval(independent(values));
    covered += low <= 10 && 10 <= high ? 1 : 0;
  }
  EXPECT_GE(covered, 178);
  EXPECT_LE(covered, 199);
}

TEST(statistics, same_values_same_interval) {
  const auto of = independent(normal_values(30, "same"));
  EXPECT_EQ(mean_interval(of), mean_interval(of));
}

TEST(statistics, repeats_with_equal_values_say_nothing_new) {
  const auto values = normal_values(40, "repeats");
  const auto once = mean_interval(independent(values));
  sample thrice;
  for (int repeat = 0; repeat < 3; ++repeat)
    for (std::size_t i = 0; i < values.size(); ++i) thrice.add(values[i], i);
  const auto [low, high] = mean_interval(thrice);
  EXPECT_NEAR(low, once.first, 1e-12);
  EXPECT_NEAR(high, once.second, 1e-12);
  EXPECT_EQ(describe(thrice).n, 120U);
}

/// Three questions of one, two and three values.
sample three_questions() {
  sample of;
  of.add(10, 4); // numbers need not be dense
  of.add(1, 0);
  of.add(3, 2);
  of.add(7, 4);
  of.add(5, 2);
  of.add(12, 4);
  return of;
}

// All 27 resamples of three questions are as likely; each end of the interval
// is where the 25th of 1,000 would stand.
TEST(statistics, interval_is_that_of_all_resamples) {
  const std::vector<std::vector<double>> questions{{1}, {3, 5}, {10, 7, 12}};
  std::vector<double> means;
  for (const auto& a : questions)
    for (const auto& b : questions)
      for (const auto& c : questions) {
        auto all = a;
        all.insert(all.end(), b.begin(), b.end());
        all.insert(all.end(), c.begin(), c.end());
        means.push_back(mean(all));
      }
  std::sort(means.begin(), means.end());
  const auto [low, high] = mean_interval(three_questions());
  EXPECT_NEAR(low, means.front(), 1e-12); // 1 of 27 is more than 2.5 %
  EXPECT_NEAR(high, means.back(), 1e-12);
}

// What the interval is said to be, without sums and counts.
TEST(statistics, a_draw_takes_all_values_of_a_question) {
  sample of;
  std::vector<std::vector<double>> questions(12);
  random_stream make(5, "uneven");
  for (std::size_t i = 0; i < 200; ++i) {
    const auto question = std::min(make.below(12), make.below(12));
    questions[question].push_back(make.normal());
    of.add(questions[question].back(), question);
  }
  std::erase_if(questions, [](const auto& one) { return one.empty(); });
  random_stream draw(0, "bootstrap");
  std::vector<double> means;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> drawn;
    for (std::size_t n = 0; n < questions.size(); ++n) {
      const auto& one = questions[draw.below(questions.size())];
      drawn.insert(drawn.end(), one.begin(), one.end());
    }
    means.push_back(mean(drawn));
  }
  std::sort(means.begin(), means.end());
  const auto [low, high] = mean_interval(of);
  EXPECT_NEAR(low, quantile(means, 0.025), 1e-12);
  EXPECT_NEAR(high, quantile(means, 0.975), 1e-12);
}

TEST(statistics, one_question_has_its_mean_for_interval) {
  sample of;
  for (const double value : {2.0, 3.0, 10.0}) of.add(value, 6);
  const auto all = describe(of);
  EXPECT_EQ(all.mean, 5);
  EXPECT_EQ(all.mean_low, 5);
  EXPECT_EQ(all.mean_high, 5);
  EXPECT_EQ(all.max, 10);
}

TEST(statistics, few_values) {
  EXPECT_EQ(describe({}).n, 0U);
  const auto of = describe(independent({7}));
  EXPECT_EQ(of.n, 1U);
  for (const double value : {of.mean, of.mean_low, of.mean_high, of.p50, of.p95,
                             of.p99, of.min, of.max})
    EXPECT_EQ(value, 7);
}

} // namespace
} // namespace kvloom::report
