#include "report/score/answer_words.hpp"

#include "report/score/porter_stemmer.hpp"
#include "report/score/score.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>

namespace kvloom::report {

namespace {

constexpr std::int32_t replacement_character = 0xFFFD;

std::vector<std::int32_t> code_points(std::string_view text) {
  std::vector<std::int32_t> out;
  out.reserve(text.size());
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    std::int32_t point = 0;
    auto used = utf8proc_iterate(at, left, &point);
    if (used <= 0) {
      point = replacement_character;
      used = 1;
    }
    out.push_back(point);
    at += used;
    left -= used;
  }
  return out;
}

void append_utf8(std::string& to, std::int32_t point) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(point, bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
}

/// Unicode full case folding after composition; ASCII: lower case.
std::vector<std::int32_t> folded(std::string_view text) {
  std::string valid;
  for (auto point : code_points(text)) append_utf8(valid, point);
  utf8proc_uint8_t* mapped = nullptr;
  const auto n = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
      static_cast<utf8proc_ssize_t>(valid.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE
                                     | UTF8PROC_CASEFOLD));
  if (n < 0) return code_points(valid); // out of memory only
  auto out = code_points(
      {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(n)});
  std::free(mapped);
  return out;
}

bool is_space(std::int32_t point) {
  if (point >= 0x09 && point <= 0x0D) return true;
  if (point >= 0x1C && point <= 0x1F) return true;
  if (point == 0x85) return true;
  switch (utf8proc_category(point)) {
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return true;
  default:
    return false;
  }
}

/// Punctuation of Unicode, and the ASCII symbols that SQuAD's scorer counts
/// as punctuation ($ + < = > ^ ` | ~).
bool is_punctuation(std::int32_t point) {
  switch (utf8proc_category(point)) {
  case UTF8PROC_CATEGORY_PC:
  case UTF8PROC_CATEGORY_PD:
  case UTF8PROC_CATEGORY_PS:
  case UTF8PROC_CATEGORY_PE:
  case UTF8PROC_CATEGORY_PI:
  case UTF8PROC_CATEGORY_PF:
  case UTF8PROC_CATEGORY_PO:
    return true;
  case UTF8PROC_CATEGORY_SC:
  case UTF8PROC_CATEGORY_SK:
  case UTF8PROC_CATEGORY_SM:
  case UTF8PROC_CATEGORY_SO:
    return point < 0x80;
  default:
    return false;
  }
}

bool is_letter_or_digit(std::int32_t point) {
  switch (utf8proc_category(point)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_NO:
    return true;
  default:
    return false;
  }
}

/// Ideographs and kana, which are written without spaces.
bool stands_alone(std::int32_t point) {
  return (point >= 0x3005 && point <= 0x3007)
         || (point >= 0x3041 && point <= 0x30FF)
         || (point >= 0x3400 && point <= 0x9FFF)
         || (point >= 0xF900 && point <= 0xFAFF)
         || (point >= 0x20000 && point <= 0x3FFFF);
}

/// Lower-case ASCII letters and digits, a space for every other byte. Two
/// characters outside ASCII have a lower case within it.
std::string ascii_folded(std::string_view text) {
  std::string out;
  for (auto point : code_points(text)) {
    if (point == 0x212A) point = 'k'; // the sign for kelvin
    if (point == 0x0130) {            // I with a dot: i and a mark
      out += "i ";
      continue;
    }
    if (point >= 'A' && point <= 'Z') point += 'a' - 'A';
    const bool kept
        = (point >= 'a' && point <= 'z') || (point >= '0' && point <= '9');
    out += kept ? static_cast<char>(point) : ' ';
  }
  return out;
}

bool is_article(const std::string& word) {
  return word == "a" || word == "an" || word == "the";
}

std::vector<std::string> cut_words(const std::vector<std::int32_t>& points,
                                   bool keep_punctuation, bool keep_articles) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && (keep_articles || !is_article(word))) {
      words.push_back(word);
    }
    word.clear();
  };
  for (auto point : points) {
    if (is_space(point)) {
      end_word();
    } else if (keep_punctuation || !is_punctuation(point)) {
      append_utf8(word, point);
    }
  }
  end_word();
  return words;
}

} // namespace

std::vector<std::string> normalised_words(std::string_view text) {
  const auto points = folded(text);
  auto words = cut_words(points, false, false);
  if (words.empty()) words = cut_words(points, false, true);
  if (words.empty()) words = cut_words(points, true, true);
  return words;
}

std::string normalise_answer(std::string_view text) {
  std::string out;
  for (const auto& word : normalised_words(text)) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

bool is_punctuation_only(std::string_view text) {
  const auto points = folded(text);
  return cut_words(points, false, true).empty();
}

rouge_alphabet alphabet_for(std::string_view gold) {
  for (const char letter : ascii_folded(gold))
    if (letter != ' ') return rouge_alphabet::ascii;
  return rouge_alphabet::unicode;
}

std::vector<std::string> rouge_words(std::string_view text,
                                     rouge_alphabet alphabet) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    // rouge-score leaves short words alone.
    if (!word.empty())
      words.push_back(word.size() > 3 ? porter_stem(word) : word);
    word.clear();
  };
  if (alphabet == rouge_alphabet::ascii) {
    for (const char letter : ascii_folded(text)) {
      if (letter == ' ')
        end_word();
      else
        word += letter;
    }
  } else {
    for (auto point : folded(text)) {
      if (!is_letter_or_digit(point) || stands_alone(point)) end_word();
      if (is_letter_or_digit(point)) append_utf8(word, point);
      if (stands_alone(point)) end_word();
    }
  }
  end_word();
  return words;
}

} // namespace kvloom::report
