#include "engine/tokenizer/unicode.hpp"

#include "engine/tokenizer/regex.hpp"
#include "engine/tokenizer/unicode_tables.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace kvloom::engine {

namespace {

using uchar = unsigned char;

/// Whether `next` may follow the bytes begun with `lead` at place `count`;
/// only the second byte has a range of its own.
bool continues(uchar lead, unsigned count, uchar next) {
  if (count == 1) {
    if (lead == 0xe0) return next >= 0xa0 && next <= 0xbf;
    if (lead == 0xed) return next >= 0x80 && next <= 0x9f;
    if (lead == 0xf0) return next >= 0x90 && next <= 0xbf;
    if (lead == 0xf4) return next >= 0x80 && next <= 0x8f;
  }
  return next >= 0x80 && next <= 0xbf;
}

/// Bytes of a character that starts with `lead`; 0 if none does.
unsigned length_of(uchar lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return static_cast<unsigned>(utf8_length(lead));
}

bool contains(std::span<const char_range> table, char32_t c) {
  const auto above
      = std::upper_bound(table.begin(), table.end(), c,
                         [](char32_t value, const char_range& range) {
                           return value < range.first;
                         });
  return above != table.begin() && c <= std::prev(above)->last;
}

/// Appends the normal form of `text`; false when memory ran out.
bool append_normal_form(std::string_view text, int options, std::string& out) {
  if (text.empty()) return true;
  utf8proc_uint8_t* mapped = nullptr;
  const auto length
      = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                     static_cast<utf8proc_option_t>(options));
  if (length < 0) return false;
  out.append(reinterpret_cast<const char*>(mapped),
             static_cast<std::size_t>(length));
  std::free(mapped); // NOLINT: allocated by utf8proc with malloc
  return true;
}

} // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<uchar>(text[at]);
    const unsigned length = length_of(lead);
    if (length == 0 || at + length > text.size()) return at;
    for (unsigned i = 1; i < length; ++i)
      if (!continues(lead, i, static_cast<uchar>(text[at + i]))) return at;
    at += length;
  }
  return std::nullopt;
}

char32_t next_char(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<uchar>(text[at + i]));
  };
  const char32_t lead = byte(0);
  const std::size_t length = utf8_length(static_cast<uchar>(lead));
  char32_t value = 0;
  switch (length) {
  case 1:
    value = lead;
    break;
  case 2:
    value = (lead & 0x1f) << 6 | (byte(1) & 0x3f);
    break;
  case 3:
    value = (lead & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    break;
  default:
    value = (lead & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6
            | (byte(3) & 0x3f);
  }
  at += length;
  return value;
}

void append_char(std::string& out, char32_t c) {
  const auto put = [&](char32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

bool is_whitespace(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0
         || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028
         || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return contains(numeric_table(), c);
}

bool is_punctuation(char32_t c) {
  return contains(punctuation_table(), c);
}

bool is_mark(char32_t c) {
  return c >= 0x300 && contains(mark_table(), c);
}

bool is_word(char32_t c) {
  if (c < 0x80)
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
           || (c >= 'a' && c <= 'z') || c == '_';
  static const auto pattern = regex::compile(
      R"(\A[\p{Alphabetic}\p{L}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])");
  std::string text;
  append_char(text, c);
  return pattern && pattern->matches(text);
}

std::optional<std::string> to_normal_form(std::string_view text,
                                          normal_form form) {
  int options = UTF8PROC_STABLE;
  switch (form) {
  case normal_form::nfc:
    options |= UTF8PROC_COMPOSE;
    break;
  case normal_form::nfd:
    options |= UTF8PROC_DECOMPOSE;
    break;
  case normal_form::nfkc:
    options |= UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    break;
  case normal_form::nfkd:
    options |= UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    break;
  }
  const auto news = (options & UTF8PROC_COMPAT) != 0 ? compatible_news_table()
                                                     : canonical_news_table();
  // Characters that are news to the reference stand still, and their
  // neighbours never cross them.
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<uchar>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    if (!contains(news, next_char(text, at))) continue;
    if (!append_normal_form(text.substr(done, begin - done), options, out))
      return std::nullopt;
    out.append(text.substr(begin, at - begin));
    done = at;
  }
  if (!append_normal_form(text.substr(done), options, out)) return std::nullopt;
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto news = new_lower_table();
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    const auto added = std::lower_bound(
        news.begin(), news.end(), c,
        [](const auto& pair, char32_t value) { return pair.first < value; });
    if (added != news.end() && added->first == c) {
      append_char(out, added->second);
    } else if (c == 0x130) {
      // The only character whose full lower case is two characters.
      out += "i\xcc\x87";
    } else {
      append_char(out, static_cast<char32_t>(
                           utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return out;
}

void utf8_repairer::push(std::string_view bytes, std::string& out) {
  for (const char raw : bytes) {
    const auto byte = static_cast<uchar>(raw);
    if (held_count_ > 0) {
      if (continues(held_[0], held_count_, byte)) {
        held_[held_count_++] = byte;
        if (held_count_ == needed_) {
          out.append(reinterpret_cast<const char*>(held_), held_count_);
          held_count_ = 0;
        }
        continue;
      }
      out += replacement_character;
      held_count_ = 0;
    }
    needed_ = length_of(byte);
    if (needed_ == 1) {
      out += raw;
    } else if (needed_ == 0) {
      out += replacement_character;
    } else {
      held_[held_count_++] = byte;
    }
  }
}

void utf8_repairer::finish(std::string& out) {
  if (held_count_ > 0) out += replacement_character;
  held_count_ = 0;
}

} // namespace kvloom::engine
