// Accepted answers in all the forms in which data sets give them.
#pragma once

#include "datasets/shapes/row_context.hpp"

#include <string>
#include <vector>

namespace kvloom::datasets {

/// The golds of a row, flat, in the file's order, without repeats; empty where
/// the row has none. Fields: `answers`, `answer`, `golds`, `reference_summary`
/// and `answer_aliases`. A value is a text, a number (taken as the text that
/// the file spells), a list of values, nested or not, or an object with
/// `text`, `value` or `aliases` (SQuAD, TriviaQA). Errors: bad_input for
/// truth values and other objects.
result<std::vector<std::string>> read_answers(const row_context& where,
                                              const json_value& row);

} // namespace kvloom::datasets
