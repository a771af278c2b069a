#include "report/score/score.hpp"

namespace kvloom::report {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

} // namespace

std::string clean_answer(std::string_view answer, answer_cleaning how) {
  if (how == answer_cleaning::none) return std::string(answer);
  const auto text = trimmed(answer);
  return std::string(trimmed(text.substr(0, text.find_first_of("\r\n"))));
}

} // namespace kvloom::report
