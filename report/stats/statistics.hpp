// Statistics of samples, for summaries.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace kvloom::report {

/// The q-quantile, 0 <= q <= 1, by linear interpolation between order
/// statistics (definition 7 of Hyndman and Fan 1996, numpy's default).
/// `sorted` ascends and is not empty.
double quantile(std::span<const double> sorted, double q);

/// Percentile bootstrap interval of the mean (Efron 1979), 95 %, 1,000
/// resamples, the same for the same values; above 10,000 values the normal
/// one. {value, value} for one value.
/// `values` is not empty.
std::pair<double, double> mean_interval(std::span<const double> values);

struct sample_statistics {
  std::size_t n = 0;
  double mean = 0, mean_low = 0, mean_high = 0; ///< 95 % interval
  double p50 = 0, p95 = 0, p99 = 0, min = 0, max = 0;
};

/// Of `values` in any order; all zero for none.
sample_statistics describe(std::span<const double> values);

} // namespace kvloom::report
