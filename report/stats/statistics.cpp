#include "report/stats/statistics.hpp"

#include "core/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

namespace kvloom::report {

namespace {

constexpr std::size_t resamples = 1000;
/// Above this many values resampling takes seconds, and the mean is normal
/// to more digits than anybody prints.
constexpr std::size_t most_resampled = 10000;
constexpr double normal_quantile = 1.959963984540054; // of 0.975

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0)
         / static_cast<double>(values.size());
}

} // namespace

double quantile(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above],
                   at - static_cast<double>(below));
}

std::pair<double, double> mean_interval(std::span<const double> values) {
  if (values.size() == 1) return {values[0], values[0]};
  if (values.size() > most_resampled) {
    const auto n = static_cast<double>(values.size());
    const double mean = mean_of(values);
    double squares = 0;
    for (const double one : values) squares += (one - mean) * (one - mean);
    const double half = normal_quantile * std::sqrt(squares / (n - 1) / n);
    return {mean - half, mean + half};
  }
  random_stream draw(0, "bootstrap");
  std::vector<double> means(resamples);
  for (auto& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += values[draw.below(values.size())];
    }
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return {quantile(means, 0.025), quantile(means, 0.975)};
}

sample_statistics describe(std::span<const double> values) {
  sample_statistics out;
  if (values.empty()) return out;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  out.n = sorted.size();
  out.mean = mean_of(values);
  std::tie(out.mean_low, out.mean_high) = mean_interval(values);
  out.p50 = quantile(sorted, 0.50);
  out.p95 = quantile(sorted, 0.95);
  out.p99 = quantile(sorted, 0.99);
  out.min = sorted.front();
  out.max = sorted.back();
  return out;
}

} // namespace kvloom::report
