// Scores of an answer against its golds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::report {

/// SQuAD normalisation (Rajpurkar et al. 2016, evaluate-v1.1), Unicode-aware:
/// case folded, punctuation removed, articles a/an/the removed, white space
/// collapsed. Articles, and then punctuation, are kept when nothing else
/// would be left.
std::string normalise_answer(std::string_view text);

/// Scores of one answer; the maximum over the golds. Golds that are empty
/// even so are skipped and counted, and so are golds of punctuation alone
/// where the answer is not of that kind.
struct answer_scores {
  double em = 0;
  double f1 = 0;      ///< on normalised words
  double rouge_l = 0; ///< F-measure, Porter stemmer, sentence level, on the
                      ///< words of answer_words.hpp
  std::size_t unusable_golds = 0;
  bool scored = false; ///< false when no gold was usable
};

/// What becomes of an answer before scoring.
enum class answer_cleaning : std::uint8_t {
  none,
  first_line, ///< first non-empty line, trimmed
};

std::string clean_answer(std::string_view answer, answer_cleaning how);

answer_scores score_answer(std::string_view answer,
                           std::span<const std::string> golds);

/// The F1 of the original programs, on token ids; named apart because it
/// depends on the model's tokenizer. Give both without BOS.
double token_id_f1(std::span<const int> answer, std::span<const int> gold);

} // namespace kvloom::report
