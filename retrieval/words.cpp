#include "retrieval/bm25.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

namespace kvloom::retrieval {

namespace {

struct free_bytes {
  void operator()(utf8proc_uint8_t* bytes) const { std::free(bytes); }
};

/// Scripts that are written without spaces and whose characters are searched
/// one by one.
bool stands_alone(utf8proc_int32_t point) {
  struct range {
    utf8proc_int32_t first, last;
  };
  constexpr std::array ranges{
      range{0x1100, 0x11FF},   // hangul parts
      range{0x3005, 0x3007},   // ideographic marks and zero
      range{0x3041, 0x30FF},   // hiragana, katakana
      range{0x3131, 0x318E},   // hangul parts
      range{0x31F0, 0x31FF},   // katakana
      range{0x3400, 0x4DBF},   // ideographs
      range{0x4E00, 0x9FFF},   // ideographs
      range{0xA960, 0xA97C},   // hangul parts
      range{0xAC00, 0xD7FB},   // hangul
      range{0xF900, 0xFAFF},   // ideographs
      range{0x1AFF0, 0x1B16F}, // kana
      range{0x20000, 0x3FFFF}, // ideographs
  };
  for (const auto& one : ranges)
    if (point >= one.first && point <= one.last) return true;
  return false;
}

bool is_mark(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_word_character(utf8proc_category_t category) {
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
         || is_mark(category)
         || (category >= UTF8PROC_CATEGORY_ND
             && category <= UTF8PROC_CATEGORY_NO);
}

/// Bytes that are no UTF-8 part words like a space does.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t point = 0;
    const auto n = utf8proc_iterate(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
        static_cast<utf8proc_ssize_t>(text.size()), &point);
    if (n <= 0) {
      valid += ' ';
      text.remove_prefix(1);
    } else {
      valid.append(text.substr(0, static_cast<std::size_t>(n)));
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  return valid;
}

} // namespace

std::vector<std::string> unicode_words(std::string_view text) {
  const auto valid = valid_utf8(text);
  utf8proc_uint8_t* raw = nullptr;
  // NFKC_Casefold of Unicode; IGNORE drops what has no shape, such as soft
  // hyphens and joiners, so that they part no word.
  const auto size
      = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                     static_cast<utf8proc_ssize_t>(valid.size()), &raw,
                     static_cast<utf8proc_option_t>(
                         UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT
                         | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
  const std::unique_ptr<utf8proc_uint8_t, free_bytes> folded(raw);
  std::vector<std::string> words;
  std::string word;
  bool alone = false; // the word is one character that stands alone
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
    alone = false;
  };
  for (utf8proc_ssize_t at = 0; at < size;) {
    utf8proc_int32_t point = 0;
    const auto n = utf8proc_iterate(folded.get() + at, size - at, &point);
    if (n <= 0) break; // valid by construction
    const auto category = utf8proc_category(point);
    if (!is_word_character(category)) {
      end_word();
    } else {
      const bool mark = is_mark(category);
      const bool next_alone = !mark && stands_alone(point);
      // A mark belongs to what it stands on.
      if (!mark && (alone || next_alone)) end_word();
      word.append(reinterpret_cast<const char*>(folded.get() + at),
                  static_cast<std::size_t>(n));
      if (next_alone) alone = true;
    }
    at += n;
  }
  end_word();
  return words;
}

} // namespace kvloom::retrieval
