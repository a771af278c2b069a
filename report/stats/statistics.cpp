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
/// All values of one question, as far as a mean needs them.
struct cluster {
  double sum = 0;
  double n = 0;
};

std::vector<cluster> clusters_of(const sample& of) {
  std::vector<cluster> all;
  for (std::size_t i = 0; i < of.values.size(); ++i) {
    const auto question = of.questions[i];
    if (question >= all.size()) all.resize(question + 1);
    all[question].sum += of.values[i];
    ++all[question].n;
  }
  std::erase_if(all, [](const cluster& one) { return one.n == 0; });
  return all;
}

} // namespace

double quantile(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above],
                   at - static_cast<double>(below));
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0)
         / static_cast<double>(values.size());
}

void sample::add(double value, std::size_t question) {
  values.push_back(value);
  questions.push_back(question);
}

std::pair<double, double> mean_interval(const sample& of) {
  const auto clusters = clusters_of(of);
  random_stream draw(0, "bootstrap");
  std::vector<double> means(resamples);
  for (auto& one_mean : means) {
    cluster drawn;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      const auto& one = clusters[draw.below(clusters.size())];
      drawn.sum += one.sum;
      drawn.n += one.n;
    }
    one_mean = drawn.sum / drawn.n;
  }
  std::sort(means.begin(), means.end());
  return {quantile(means, 0.025), quantile(means, 0.975)};
}

sample_statistics describe(const sample& of) {
  sample_statistics out;
  if (of.values.empty()) return out;
  auto sorted = of.values;
  std::sort(sorted.begin(), sorted.end());
  out.n = sorted.size();
  out.mean = mean(of.values);
  std::tie(out.mean_low, out.mean_high) = mean_interval(of);
  out.p50 = quantile(sorted, 0.50);
  out.p95 = quantile(sorted, 0.95);
  out.p99 = quantile(sorted, 0.99);
  out.min = sorted.front();
  out.max = sorted.back();
  return out;
}

} // namespace kvloom::report
