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

TEST(statistics, quantiles_are_numpys) {
  for (const auto& one : golden("golden_quantiles.json")) {
    auto values = one["values"].get<std::vector<double>>();
    std::sort(values.begin(), values.end());
    for (const auto& [q, wanted] : one["quantiles"].items())
      EXPECT_NEAR(quantile(values, std::stod(q)), wanted.get<double>(), 1e-12);
  }
}

TEST(statistics, intervals_are_those_of_theory) {
  for (const std::size_t n : {50U, 400U, 20000U}) {
    const auto values = normal_values(n, "theory");
    const auto [low, high] = mean_interval(values);
    const double half = 1.96 / std::sqrt(static_cast<double>(n));
    EXPECT_NEAR((high - low) / 2, half, 0.2 * half) << n;
  }
}

TEST(statistics, intervals_cover_the_truth_as_often_as_they_say) {
  int covered = 0;
  for (int i = 0; i < 200; ++i) {
    const auto values = normal_values(60, "sample " + std::to_string(i));
    const auto [low, high] = mean_interval(values);
    covered += low <= 10 && 10 <= high ? 1 : 0;
  }
  EXPECT_GE(covered, 178);
  EXPECT_LE(covered, 199);
}

TEST(statistics, same_values_same_interval) {
  const auto values = normal_values(30, "same");
  EXPECT_EQ(mean_interval(values), mean_interval(values));
}

TEST(statistics, few_values) {
  EXPECT_EQ(describe({}).n, 0U);
  const std::vector<double> one{7};
  const auto of = describe(one);
  EXPECT_EQ(of.n, 1U);
  for (const double value : {of.mean, of.mean_low, of.mean_high, of.p50, of.p95,
                             of.p99, of.min, of.max})
    EXPECT_EQ(value, 7);
}

} // namespace
} // namespace kvloom::report
