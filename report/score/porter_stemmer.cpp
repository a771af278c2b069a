#include "report/score/porter_stemmer.hpp"

#include <array>
#include <span>
#include <utility>

namespace kvloom::report {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 16>
    irregular_forms{{{"sky", "sky"},
                     {"skies", "sky"},
                     {"dying", "die"},
                     {"lying", "lie"},
                     {"tying", "tie"},
                     {"news", "news"},
                     {"innings", "inning"},
                     {"inning", "inning"},
                     {"outings", "outing"},
                     {"outing", "outing"},
                     {"cannings", "canning"},
                     {"canning", "canning"},
                     {"howe", "howe"},
                     {"proceed", "proceed"},
                     {"exceed", "exceed"},
                     {"succeed", "succeed"}}};

bool is_vowel_letter(char letter) {
  return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o'
         || letter == 'u';
}

/// For every letter whether it is a consonant; y after a consonant is none.
std::string classes(std::string_view word) {
  std::string out(word.size(), 'c');
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (is_vowel_letter(word[i])) out[i] = 'v';
    if (word[i] == 'y' && i > 0) out[i] = out[i - 1] == 'c' ? 'v' : 'c';
  }
  return out;
}

/// Number of vowel runs that a consonant follows: Porter's m.
int measure(std::string_view stem) {
  const auto kinds = classes(stem);
  int m = 0;
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    if (kinds[i - 1] == 'v' && kinds[i] == 'c') ++m;
  }
  return m;
}

bool has_vowel(std::string_view stem) {
  return classes(stem).find('v') != std::string::npos;
}

bool ends_double_consonant(std::string_view word) {
  const auto n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && classes(word)[n - 1] == 'c';
}

/// Consonant, vowel, consonant other than w, x, y; or a word of two letters,
/// vowel and consonant.
bool ends_cvc(std::string_view word) {
  const auto kinds = classes(word);
  const auto n = word.size();
  if (n >= 3 && kinds.substr(n - 3) == "cvc") {
    const char last = word[n - 1];
    return last != 'w' && last != 'x' && last != 'y';
  }
  return n == 2 && kinds == "vc";
}

struct suffix_rule {
  std::string_view suffix, replacement;
};

/// Applies the first rule whose suffix fits, if its stem has a measure above
/// `least`; a rule that fits ends the search either way.
std::string apply(std::string word, std::span<const suffix_rule> rules,
                  int least) {
  for (const auto& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const auto stem = word.substr(0, word.size() - rule.suffix.size());
    if (measure(stem) > least) return stem + std::string(rule.replacement);
    return word;
  }
  return word;
}

std::string plurals(std::string word) {
  const auto n = word.size();
  if (word.ends_with("ies") && n == 4) return word.substr(0, n - 1);
  if (word.ends_with("sses")) return word.substr(0, n - 2);
  if (word.ends_with("ies")) return word.substr(0, n - 2);
  if (word.ends_with("ss")) return word;
  if (word.ends_with("s")) return word.substr(0, n - 1);
  return word;
}

std::string past_and_participle(std::string word) {
  const auto n = word.size();
  if (word.ends_with("ied")) return word.substr(0, n - (n == 4 ? 1 : 2));
  if (word.ends_with("eed")) {
    return measure(word.substr(0, n - 3)) > 0 ? word.substr(0, n - 1) : word;
  }
  std::string stem;
  if (word.ends_with("ed") && has_vowel(word.substr(0, n - 2))) {
    stem = word.substr(0, n - 2);
  } else if (word.ends_with("ing") && has_vowel(word.substr(0, n - 3))) {
    stem = word.substr(0, n - 3);
  } else {
    return word;
  }
  if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) {
    return stem + "e";
  }
  if (ends_double_consonant(stem)) {
    const char last = stem.back();
    if (last != 'l' && last != 's' && last != 'z') stem.pop_back();
    return stem;
  }
  if (measure(stem) == 1 && ends_cvc(stem)) return stem + "e";
  return stem;
}

std::string final_y(std::string word) {
  if (!word.ends_with("y")) return word;
  const auto stem = word.substr(0, word.size() - 1);
  if (stem.size() > 1 && classes(stem).back() == 'c') return stem + "i";
  return word;
}

std::string double_suffixes(std::string word) {
  if (word.ends_with("alli") && measure(word.substr(0, word.size() - 4)) > 0) {
    return double_suffixes(word.substr(0, word.size() - 2));
  }
  static constexpr std::array<suffix_rule, 21> rules{
      {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},
       {"anci", "ance"},   {"izer", "ize"},    {"bli", "ble"},
       {"alli", "al"},     {"entli", "ent"},   {"eli", "e"},
       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
       {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"},
       {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
       {"iviti", "ive"},   {"biliti", "ble"},  {"fulli", "ful"}}};
  for (const auto& rule : rules) {
    if (word.ends_with(rule.suffix)) return apply(word, rules, 0);
  }
  // The l belongs to the stem whose measure counts.
  if (word.ends_with("logi") && measure(word.substr(0, word.size() - 3)) > 0) {
    word.pop_back();
  }
  return word;
}

std::string adjective_suffixes(std::string word) {
  static constexpr std::array<suffix_rule, 7> rules{{{"icate", "ic"},
                                                     {"ative", ""},
                                                     {"alize", "al"},
                                                     {"iciti", "ic"},
                                                     {"ical", "ic"},
                                                     {"ful", ""},
                                                     {"ness", ""}}};
  return apply(std::move(word), rules, 0);
}

std::string long_stem_suffixes(std::string word) {
  static constexpr std::array<std::string_view, 19> suffixes{
      "al",  "ance",  "ence", "er",  "ic",  "able", "ible",
      "ant", "ement", "ment", "ent", "ion", "ou",   "ism",
      "ate", "iti",   "ous",  "ive", "ize"};
  for (const auto suffix : suffixes) {
    if (!word.ends_with(suffix)) continue;
    const auto stem = word.substr(0, word.size() - suffix.size());
    const bool may_end
        = suffix != "ion" || stem.ends_with("s") || stem.ends_with("t");
    return measure(stem) > 1 && may_end ? stem : word;
  }
  return word;
}

std::string tidy_up(std::string word) {
  if (word.ends_with("e")) {
    const auto stem = word.substr(0, word.size() - 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_cvc(stem))) word = stem;
  }
  if (word.ends_with("ll") && measure(word.substr(0, word.size() - 1)) > 1) {
    word.pop_back();
  }
  return word;
}

} // namespace

std::string porter_stem(std::string_view word) {
  for (const auto& [form, stem] : irregular_forms) {
    if (word == form) return std::string(stem);
  }
  if (word.size() <= 2) return std::string(word);
  auto stem = plurals(std::string(word));
  stem = past_and_participle(std::move(stem));
  stem = final_y(std::move(stem));
  stem = double_suffixes(std::move(stem));
  stem = adjective_suffixes(std::move(stem));
  stem = long_stem_suffixes(std::move(stem));
  return tidy_up(std::move(stem));
}

} // namespace kvloom::report
