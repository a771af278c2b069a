// Words of an answer, for exact match, F1 and ROUGE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvloom::report {

/// Words of normalise_answer(), in order.
std::vector<std::string> normalised_words(std::string_view text);

/// Words as the package rouge-score cuts them with its Porter stemmer: case
/// folded, runs of letters and digits, words of more than three characters
/// stemmed. Letters and digits are those of Unicode, where rouge-score knows
/// ASCII only; on ASCII text the two agree.
std::vector<std::string> rouge_words(std::string_view text);

} // namespace kvloom::report
