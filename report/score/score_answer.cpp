#include "report/score/answer_words.hpp"
#include "report/score/score.hpp"

#include <algorithm>
#include <map>

namespace kvloom::report {

namespace {

double f_measure(double same, double n_answer, double n_gold) {
  if (same == 0) return 0;
  const double precision = same / n_answer;
  const double recall = same / n_gold;
  return 2 * precision * recall / (precision + recall);
}

/// F1 over multisets.
template <class T>
double overlap_f1(std::span<const T> answer, std::span<const T> gold) {
  std::map<T, std::size_t> left;
  for (const auto& one : gold) ++left[one];
  std::size_t same = 0;
  for (const auto& one : answer) {
    const auto at = left.find(one);
    if (at == left.end() || at->second == 0) continue;
    --at->second;
    ++same;
  }
  return f_measure(static_cast<double>(same),
                   static_cast<double>(answer.size()),
                   static_cast<double>(gold.size()));
}

std::size_t longest_common_subsequence(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const auto& word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = word == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

} // namespace

answer_scores score_answer(std::string_view answer,
                           std::span<const std::string> golds) {
  answer_scores best;
  const auto words = normalised_words(answer);
  const bool answer_has_words = !is_punctuation_only(answer);
  for (const auto& gold : golds) {
    const auto gold_words = normalised_words(gold);
    // Against an answer in words, a gold of punctuation alone says nothing.
    if (gold_words.empty()
        || (is_punctuation_only(gold) && (answer_has_words || words.empty()))) {
      ++best.unusable_golds;
      continue;
    }
    best.scored = true;
    if (words == gold_words) best.em = 1;
    best.f1 = std::max(best.f1,
                       overlap_f1(std::span<const std::string>(words),
                                  std::span<const std::string>(gold_words)));
    const auto alphabet = alphabet_for(gold);
    const auto stems = rouge_words(answer, alphabet);
    const auto gold_stems = rouge_words(gold, alphabet);
    const auto common = longest_common_subsequence(stems, gold_stems);
    best.rouge_l = std::max(best.rouge_l,
                            f_measure(static_cast<double>(common),
                                      static_cast<double>(stems.size()),
                                      static_cast<double>(gold_stems.size())));
  }
  return best;
}

double token_id_f1(std::span<const int> answer, std::span<const int> gold) {
  if (answer.empty() || gold.empty()) {
    return answer.empty() && gold.empty() ? 1 : 0;
  }
  return overlap_f1(answer, gold);
}

} // namespace kvloom::report
