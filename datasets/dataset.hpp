// Reads the shapes in which question answering data comes (docs/formats.md)
// into questions.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kvloom::datasets {

/// A data set in memory. Immutable after reading.
struct dataset {
  std::filesystem::path path;
  std::string shape; ///< which shape was recognised, for the log
  std::vector<question> questions;
  /// A collection without questions (a list of passages) fills this instead;
  /// SQuAD shapes fill both (each paragraph once).
  std::vector<passage> collection;
  std::string sha256; ///< of the file's bytes
  bool whole = true;  ///< no questions were left out by offset or limit
  /// What was dropped or looked odd, counted and named, for the log.
  std::vector<std::string> notes;
  std::uint64_t dropped_passages = 0; ///< blank ones, over all questions
};

struct read_options {
  std::int64_t limit = 0;  ///< first N questions; 0: all
  std::int64_t offset = 0; ///< skip the first N
  /// Most bytes held of one file, after decompression.
  std::uint64_t max_bytes = std::uint64_t{2} << 30U;
};

/// Reads `path`: JSON or JSON lines, plain or gzip (told by content, not by
/// name). Errors: environment (missing, unreadable), bad_input naming file and
/// line, row (counted from 0) with its id, field, what was found and wanted.
///
/// Rows are a bare list, a list under `samples`, `results` or `data`, one
/// object, or a line each. A list whose first element is a text or has a text
/// and no question is a collection; so is an object from titles to sentences
/// and one with `chunks` and no question.
///
/// - question: `question` or `query`; must not be blank. Key-value records ask
///   for the value of their `key`; a row with a `reference_summary` and no
///   question asks for a summary.
/// - answers: answers.hpp; passages: passages.hpp.
/// - id: `id`, `_id`, `sample_id`, `qid`, `question_id`; a text or an integer.
///   Two rows with one id are an error.
/// - Texts are kept byte for byte (carriage returns, byte order marks, double
///   and no-break spaces, any normal form) but for Unicode white space at both
///   ends of questions, titles and passages.
/// - Passages with neither title nor text are dropped and counted; the others
///   keep their places as index. Equal passages of one question both stay.
/// - `prefix_ids`, `ctx_ids`, `question_ids` are token ids, beside or in place
///   of the texts.
/// - Rows outside offset and limit are not looked into.
result<dataset> read_dataset(const std::filesystem::path& path,
                             const read_options& options = {});

} // namespace kvloom::datasets
