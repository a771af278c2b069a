// Reads the shapes in which question answering data comes (docs/formats.md)
// into questions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/record/question.hpp"

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
  /// What was dropped or looked odd, counted and named, for the log.
  std::vector<std::string> notes;
  std::uint64_t dropped_passages = 0; ///< blank ones, over all questions
};

struct read_options {
  std::int64_t limit = 0;  ///< first N questions; 0: all
  std::int64_t offset = 0; ///< skip the first N
};

/// Reads `path`: JSON or JSON lines, plain or gzip (told by content, not by
/// name). Errors: environment (missing, unreadable), bad_input naming file,
/// row (and line for JSON lines), field, what was found and wanted.
result<dataset> read_dataset(const std::filesystem::path& path,
                             const read_options& options = {});

} // namespace kvloom::datasets
