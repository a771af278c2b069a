#include "engine/decode/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace kvloom::engine {

namespace {

struct candidate {
  token_id id = 0;
  double logit = 0;
  double weight = 0; ///< probability, up to a common factor
};

bool before(const candidate& a, const candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

std::span<const float> real_ids(std::span<const float> logits,
                                std::int64_t n_ids) {
  return logits.first(
      std::min(logits.size(),
               static_cast<std::size_t>(std::max<std::int64_t>(n_ids, 0))));
}

/// The lowest id among the largest; 0 where nothing is above -infinity.
token_id largest(std::span<const float> logits) {
  // Independent maxima, so that the compiler takes vectors: a vocabulary has
  // 50,000 ids and more, and every step looks at all of them. A comparison
  // with NaN is false.
  constexpr std::size_t width = 16;
  std::array<float, width> most;
  most.fill(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + width <= logits.size(); i += width)
    for (std::size_t j = 0; j < width; ++j)
      most[j] = logits[i + j] > most[j] ? logits[i + j] : most[j];
  float best = *std::max_element(most.begin(), most.end());
  for (; i < logits.size(); ++i)
    if (logits[i] > best) best = logits[i];
  if (best == -std::numeric_limits<float>::infinity()) return 0;
  return static_cast<token_id>(std::find(logits.begin(), logits.end(), best)
                               - logits.begin());
}

/// Leaves the n first by order, in order.
void keep_first(std::vector<candidate>& all, std::size_t n) {
  n = std::min(n, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n),
                    all.end(), before);
  all.resize(n);
}

/// Leaves the shortest head of the ordered list whose weight reaches `share`
/// of the whole. Orders only as much as it needs.
void keep_share(std::vector<candidate>& all, double share) {
  double whole = 0;
  for (const candidate& one : all) whole += one.weight;
  for (std::size_t n = 64;; n *= 8) {
    n = std::min(n, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n),
                      all.end(), before);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += all[i].weight;
      if (sum >= share * whole) {
        all.resize(i + 1);
        return;
      }
    }
    if (n == all.size()) return; // rounding kept the sum just below
  }
}

} // namespace

sampler::sampler(const sampling_options& options, std::string_view stream_name,
                 std::int64_t n_ids)
    : options_(options), random_(options.seed, stream_name), n_ids_(n_ids) {}

token_id sampler::choose(std::span<const float> logits) {
  const auto real = real_ids(logits, n_ids_);
  const token_id best = largest(real);
  if (options_.temperature <= 0 || real.empty()) return best;
  const double top = real[static_cast<std::size_t>(best)];
  if (!std::isfinite(top)) return best;
  std::vector<candidate> all;
  all.reserve(real.size());
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double logit = real[i];
    if (std::isnan(logit)) continue;
    all.push_back({static_cast<token_id>(i), logit,
                   std::exp((logit - top) / options_.temperature)});
  }
  if (options_.top_k > 0)
    keep_first(all, static_cast<std::size_t>(options_.top_k));
  if (options_.top_p < 1) keep_share(all, options_.top_p);
  double whole = 0;
  for (const candidate& one : all) whole += one.weight;
  double left = random_.uniform() * whole;
  for (const candidate& one : all) {
    left -= one.weight;
    if (left < 0) return one.id;
  }
  return best; // rounding at the very end of the distribution
}

std::vector<std::pair<token_id, float>>
largest_logits(std::span<const float> logits, std::size_t n,
               std::int64_t n_ids) {
  const auto real = real_ids(logits, n_ids);
  std::vector<candidate> all;
  all.reserve(real.size());
  for (std::size_t i = 0; i < real.size(); ++i)
    if (!std::isnan(real[i]))
      all.push_back({static_cast<token_id>(i), real[i], 0});
  keep_first(all, n);
  std::vector<std::pair<token_id, float>> out;
  out.reserve(all.size());
  for (const candidate& one : all)
    out.emplace_back(one.id, static_cast<float>(one.logit));
  return out;
}

} // namespace kvloom::engine
