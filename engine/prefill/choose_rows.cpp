#include "engine/prefill/choose_rows.hpp"

#include "core/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>

namespace kvloom::engine {

namespace {

/// Tokens to each side that a word of the question lends weight to.
constexpr std::int64_t lexical_reach = 4;

std::int64_t rows_of(std::span<const reused_chunk> chunks) {
  std::int64_t n = 0;
  for (const auto& chunk : chunks) n += std::ssize(chunk.ids);
  return n;
}

/// A token counts by how rare it is among the rows (smoothed inverse
/// frequency), a row by the sum over its neighbourhood, falling with distance.
void lexical(std::span<const reused_chunk> chunks,
             std::span<const token_id> question, std::vector<double>& scores) {
  std::map<token_id, double> times;
  for (const auto& chunk : chunks)
    for (const token_id id : chunk.ids) times[id] += 1;
  std::map<token_id, double> weight;
  const auto n = static_cast<double>(scores.size());
  for (const token_id id : question)
    if (const auto found = times.find(id); found != times.end())
      weight[id] = std::log(1 + n / found->second);
  std::size_t row = 0;
  for (const auto& chunk : chunks) {
    const auto size = std::ssize(chunk.ids);
    for (std::int64_t i = 0; i < size; ++i, ++row) {
      const auto found = weight.find(chunk.ids[static_cast<std::size_t>(i)]);
      if (found == weight.end()) continue;
      for (std::int64_t d = -lexical_reach; d <= lexical_reach; ++d)
        if (i + d >= 0 && i + d < size)
          scores[row + static_cast<std::size_t>(d)]
              += found->second / static_cast<double>(1 + std::abs(d));
    }
  }
}

} // namespace

std::int64_t wanted_rows(double ratio, std::int64_t n) {
  return std::clamp<std::int64_t>(std::llround(ratio * static_cast<double>(n)),
                                  0, n);
}

std::vector<std::int64_t>
largest_scores(std::span<const std::int64_t> candidates,
               std::span<const double> scores, std::int64_t n,
               std::span<const std::int64_t> forced) {
  std::vector<std::int64_t> chosen(forced.begin(), forced.end());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!std::binary_search(forced.begin(), forced.end(), candidates[i]))
      order.push_back(i);
  const auto more
      = std::clamp<std::int64_t>(n - std::ssize(chosen), 0, std::ssize(order));
  const auto value = [&](std::size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<double>::infinity()
                                 : scores[i];
  };
  std::partial_sort(order.begin(), order.begin() + more, order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return value(a) != value(b) ? value(a) > value(b) : a < b;
                    });
  for (std::int64_t i = 0; i < more; ++i)
    chosen.push_back(candidates[order[static_cast<std::size_t>(i)]]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::int64_t> first_rows(std::span<const reused_chunk> chunks,
                                     std::int64_t k) {
  std::vector<std::int64_t> rows;
  for (const auto& chunk : chunks)
    for (std::int64_t i = 0; i < std::min(k, std::ssize(chunk.ids)); ++i)
      rows.push_back(chunk.start + i);
  return rows;
}

std::vector<double> placed_scores(selector rule,
                                  std::span<const reused_chunk> chunks,
                                  std::span<const token_id> question,
                                  std::uint64_t seed) {
  std::vector<double> scores(static_cast<std::size_t>(rows_of(chunks)));
  if (rule == selector::random) {
    random_stream random(seed, "rows");
    for (auto& one : scores)
      one = static_cast<double>(random.below(std::uint64_t{1} << 53U));
  } else if (rule == selector::lexical) {
    lexical(chunks, question, scores);
  } else if (rule == selector::head_k || rule == selector::tail_k) {
    std::size_t row = 0;
    for (const auto& chunk : chunks) {
      const auto size = std::ssize(chunk.ids);
      for (std::int64_t i = 0; i < size; ++i, ++row)
        scores[row] = -static_cast<double>(
            rule == selector::tail_k              ? size - 1 - i
            : chunk.start == chunks.front().start ? i + rows_of(chunks)
                                                  : i);
    }
  }
  return scores;
}

} // namespace kvloom::engine
