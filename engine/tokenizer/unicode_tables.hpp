// Character sets in which the reference tokenizer differs from the libraries
// here (it knows other versions of Unicode). Sorted, without overlap.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace kvloom::engine {

struct char_range {
  char32_t first;
  char32_t last;
};

/// Characters of a general category that PCRE2 does not know, as members of
/// a PCRE2 character class.
struct category_news {
  std::string_view category; ///< two letters, or a script
  std::string_view members;
};

std::span<const char_range> numeric_table();
std::span<const char_range> punctuation_table();
std::span<const char_range> mark_table();
/// Characters that the reference's NFC and NFD (NFKC and NFKD) leave as they
/// are and where they are, as it does not know them.
std::span<const char_range> canonical_news_table();
std::span<const char_range> compatible_news_table();
std::span<const std::pair<char32_t, char32_t>> new_lower_table();
std::span<const category_news> category_news_table();
/// The same for scripts; `category` holds the script's name.
std::span<const category_news> script_news_table();

} // namespace kvloom::engine
