// Which rows of a stitched context are computed anew: pure functions of scores
// and places.
#pragma once

#include "core/record/question.hpp"
#include "engine/prefill/prefill_plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::engine {

/// The reused rows of a prompt, by chunk.
struct reused_chunk {
  std::int64_t start = 0; ///< absolute position of the first row
  std::span<const token_id> ids;
};

/// How many rows a ratio means: round(ratio * n), half away from zero.
std::int64_t wanted_rows(double ratio, std::int64_t n);

/// The `n` positions with the largest scores, ascending, but for `forced`
/// positions (ascending), which come first and count. Ties go to the earlier
/// position, NaN scores last. `candidates` ascend; scores[i] is that of
/// candidates[i].
std::vector<std::int64_t>
largest_scores(std::span<const std::int64_t> candidates,
               std::span<const double> scores, std::int64_t n,
               std::span<const std::int64_t> forced);

/// The first `k` rows of each chunk, ascending.
std::vector<std::int64_t> first_rows(std::span<const reused_chunk> chunks,
                                     std::int64_t k);

/// Scores of all reused rows, in order, for the rules that need no KV: random,
/// head_k, tail_k, lexical (and all, none). head_k and tail_k give rows in
/// turns over the chunks, nearest to the seam first; head_k leaves out the
/// chunk that begins the context.
std::vector<double> placed_scores(selector rule,
                                  std::span<const reused_chunk> chunks,
                                  std::span<const token_id> question,
                                  std::uint64_t seed);

} // namespace kvloom::engine
