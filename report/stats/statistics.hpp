// Statistics of samples, for summaries.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace kvloom::report {

/// The q-quantile, 0 <= q <= 1, by linear interpolation between order
/// statistics (definition 7 of Hyndman and Fan 1996, numpy's default).
/// `sorted` ascends and is not empty.
double quantile(std::span<const double> sorted, double q);

/// The mean; `values` is not empty.
double mean(std::span<const double> values);

/// Values of one figure, each with the question that it is of. Repeats of a
/// question and gaps between the tokens of its answers belong together: they
/// say less than as many values of different questions.
struct sample {
  std::vector<double> values;
  std::vector<std::size_t> questions; ///< of each value; numbers from 0, each
                                      ///< maybe without a value

  void add(double value, std::size_t question);
};

/// Percentile interval, 95 %, of the mean by cluster bootstrap (Efron 1979;
/// clusters as in Davison and Hinkley 1997, 3.8): each of 1,000 resamples
/// draws as many questions as have values, with replacement, takes all values
/// of each, and has the mean of these values. Seeded: the same for the same
/// sample.
/// With one question both ends are the mean: there is nothing to draw from.
/// `of` is not empty. The time grows with the questions, about 10 us for each,
/// however many values they have.
std::pair<double, double> mean_interval(const sample& of);

struct sample_statistics {
  std::size_t n = 0;
  double mean = 0, mean_low = 0, mean_high = 0; ///< 95 % interval
  double p50 = 0, p95 = 0, p99 = 0, min = 0, max = 0;
};

/// All zero for no values.
sample_statistics describe(const sample& of);

} // namespace kvloom::report
