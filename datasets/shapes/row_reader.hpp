// Rows of a data set to questions, and what is counted on the way.
#pragma once

#include "datasets/dataset.hpp"
#include "datasets/shapes/passages.hpp"
#include "datasets/shapes/row_context.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace kvloom::datasets {

/// Asked where a summary row (Multi-News) brings no question of its own.
inline constexpr const char* summary_question
    = "Write a summary of the passages.";

/// True for a passage of a collection rather than a question: a text, or an
/// object with a text and neither question nor passages.
bool is_collection_row(const json_value& row);

/// Collects rows into a dataset, one after the other. Not thread-safe.
class row_reader {
public:
  row_reader(dataset& out, const read_options& options);

  /// A row with a question, or an article with `paragraphs` of `qas` (SQuAD).
  result<void> add_row(const json_source& source, const json_value& row);

  /// A row of a collection.
  result<void> add_passage(const json_source& source, const json_value& row);

  /// An entry of an object that maps titles to sentences.
  result<void> add_titled(const json_source& source, const std::string& title,
                          const json_value& sentences);

  /// False once `options.limit` questions were read and none can follow.
  bool wants_more() const;

  /// Writes what was counted into the dataset's notes.
  void finish();

private:
  /// Something that happened in some rows; the first rows are named.
  struct tally {
    std::uint64_t n = 0;
    std::string rows;
    void add(const row_context& where, std::uint64_t times = 1);
  };

  bool wanted(std::size_t row) const;
  result<void> add_article(const json_source& source, const json_value& row);
  result<void> add_question(row_context& where, const json_value& row,
                            passage_list list);
  result<void> read_wording(const row_context& where, const json_value& row,
                            question& out);
  result<void> keep_collection(const row_context& where, const json_value& row,
                               passage_list list);

  dataset& out_;
  read_options options_;
  std::size_t next_row_ = 0;                         ///< of questions
  std::uint32_t next_passage_ = 0;                   ///< of the collection
  std::unordered_map<std::string, std::string> ids_; ///< id to its place
  std::unordered_map<std::string, std::string> passage_ids_;
  tally blank_, bare_, unanswered_, twice_, stray_facts_, summaries_, numbered_;
};

} // namespace kvloom::datasets
