// Scores of a file of predictions against a file of golds.
#pragma once

#include "core/base/result.hpp"
#include "report/score/score.hpp"
#include "report/stats/statistics.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kvloom::report {

struct scored_id {
  std::string id;
  answer_scores scores;
};

struct file_scores {
  std::vector<scored_id> each;       ///< in the order of the predictions
  sample_statistics em, f1, rouge_l; ///< over those that could be scored
  std::size_t failed = 0;  ///< predictions of failed requests, not scored
  std::size_t warmups = 0; ///< lines marked as warm-up, left out
  std::vector<std::string> without_gold; ///< ids that the golds lack
  std::vector<std::string> unanswered;   ///< ids that the predictions lack
  std::size_t unusable_golds = 0;

  std::string to_json() const; ///< the means, counts and ids
  std::string table() const;   ///< for people
};

/// Reads JSON lines: predictions {"id", "answer"} (results.jsonl is one; a
/// line with "status": "failed" counts as failed), golds {"id", "golds"} or
/// "answers" or "answer"; golds are a string, a number, or a list of such,
/// nested or not. Ids are strings or whole numbers.
/// Errors: bad_input with file:line for lines that can't be read, an id that
/// comes twice in the golds with different ones, or twice in the predictions
/// with one `point` and `repeat`.
result<file_scores> score_files(const std::filesystem::path& predictions,
                                const std::filesystem::path& golds,
                                answer_cleaning cleaning);

} // namespace kvloom::report
