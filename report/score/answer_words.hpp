// Words of an answer, for exact match, F1 and ROUGE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::report {

/// Words of normalise_answer(), in order.
std::vector<std::string> normalised_words(std::string_view text);

/// True for a text without a letter, digit or symbol that normalisation
/// would leave: it is compared as punctuation or not at all.
bool is_punctuation_only(std::string_view text);

enum class rouge_alphabet : std::uint8_t {
  ascii,  ///< a-z and 0-9, everything else parts words: the package's own
  unicode ///< letters, marks and digits of every script
};

/// `ascii`, so that figures agree with other people's, unless the gold has no
/// ASCII letter or digit: the package scores every answer to it 0.
rouge_alphabet alphabet_for(std::string_view gold);

/// Words as the package rouge-score 0.1.2 cuts them with its Porter stemmer:
/// in lower case, runs of the alphabet, words of more than three characters
/// stemmed. In `unicode`, ideographs and kana are words one by one.
std::vector<std::string> rouge_words(std::string_view text,
                                     rouge_alphabet alphabet);

} // namespace kvloom::report
