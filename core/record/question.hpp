// What flows between the actors of a run: questions and their passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvloom {

using token_id = std::int32_t;

/// One passage (chunk) that a question brings, or that a collection holds.
struct passage {
  /// Place in the caller's list, counted from 0; blanks that were dropped
  /// keep their number, so indices never shift.
  std::uint32_t index = 0;
  /// The caller's id; empty where the data has none.
  std::string id;
  std::string title;
  std::string text;
  /// Given in place of text (`ctx_ids`), used as they are; else empty.
  std::vector<token_id> ids;

  bool operator==(const passage&) const = default;
};

/// One row of a data set.
struct question {
  /// The caller's id, or `row-N` (N counted from 0) where it gives none.
  std::string id;
  /// Row of the file, counted from 0.
  std::size_t row = 0;
  std::string text;
  /// Accepted answers, flat, in the file's order, without repeats.
  std::vector<std::string> golds;
  /// Non-blank passages in the file's order.
  std::vector<passage> passages;
  /// Original indices of blank passages that were dropped.
  std::vector<std::uint32_t> dropped_passages;
  /// Indices of the passages that the data marks as needed for the answer.
  std::vector<std::uint32_t> supporting;
  /// Given in place of text (`prefix_ids`, `question_ids`); else empty.
  std::vector<token_id> prefix_ids;
  std::vector<token_id> question_ids;
};

/// A passage that retrieval chose, best first in a list.
struct scored_passage {
  std::uint32_t index = 0; ///< passage::index
  double score = 0;
  /// Id of the question in whose list `index` counts, where that is not the
  /// asked one: a collection of all questions. Else empty.
  std::string of_question = {};
};

} // namespace kvloom
