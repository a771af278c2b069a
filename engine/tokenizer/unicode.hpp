// UTF-8 and the character classes that tokenizers ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// Byte offset of the first byte that is not part of valid UTF-8 (overlong
/// forms, surrogates and values above U+10FFFF are invalid).
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Length in bytes of the character that starts with `lead`, in valid UTF-8.
constexpr std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/// The character at `at` of valid UTF-8, which moves behind it.
char32_t next_char(std::string_view text, std::size_t& at);

void append_char(std::string& out, char32_t character);

bool is_whitespace(char32_t c);  ///< property White_Space
bool is_numeric(char32_t c);     ///< categories Nd, Nl, No
bool is_punctuation(char32_t c); ///< categories P*, and ASCII punctuation
bool is_mark(char32_t c);        ///< categories M*
/// Alphabetic, marks, decimal digits, connectors, joiners (UTS 18 \w).
bool is_word(char32_t c);

enum class normal_form : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// Valid UTF-8 in another normal form; empty optional when memory ran out.
std::optional<std::string> to_normal_form(std::string_view text,
                                          normal_form form);

/// Lower case, character by character, without context.
std::string to_lower(std::string_view text);

/// Replaces invalid UTF-8 of a byte stream: every maximal part that could
/// have begun a character becomes one U+FFFD, every other byte one of its own
/// (the rule of the WHATWG encoding standard).
class utf8_repairer {
public:
  /// Appends what is certain to `out`, keeps an incomplete tail.
  void push(std::string_view bytes, std::string& out);
  /// Appends U+FFFD for a tail that stayed incomplete.
  void finish(std::string& out);

private:
  unsigned char held_[4] = {};
  unsigned held_count_ = 0;
  unsigned needed_ = 0; ///< length of the character begun
};

inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

} // namespace kvloom::engine
