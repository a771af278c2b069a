#include "configs/schema/quote.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace kvloom::configs {

namespace {

constexpr std::size_t shown_limit = 60;

void add_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (byte) {
  case '\n':
    out += "\\n";
    return;
  case '\t':
    out += "\\t";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\\':
    out += "\\\\";
    return;
  default:
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

bool is_control(unsigned char byte) {
  return byte < 0x20 || byte == 0x7f;
}

/// The character whose `length` bytes of valid UTF-8 stand at the front.
std::uint32_t code_point(std::string_view text, std::size_t length) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return code;
}

/// What some reader or terminal takes for a line break, a command or a change
/// of direction, or what YAML calls not printable.
bool is_hidden(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return within(0x80, 0x9f) || within(0x200e, 0x200f) || within(0x2028, 0x202e)
         || within(0x2066, 0x2069) || within(0xfdd0, 0xfdef) || code == 0xfeff
         || (code & 0xfffeU) == 0xfffe;
}

void add_code_point(std::string& out, std::uint32_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  const bool wide = code > 0xffff;
  out += wide ? "\\U" : "\\u";
  for (int shift = wide ? 28 : 12; shift >= 0; shift -= 4)
    out += digits[code >> static_cast<unsigned>(shift) & 15U];
}

bool plain_start(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80
         && (std::isalpha(byte) != 0 || first == '_' || first == '/');
}

bool plain_inside(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80
         && (std::isalnum(byte) != 0 || c == '_' || c == '/' || c == '.'
             || c == '-' || c == '+' || c == ' ');
}

/// Words that some YAML reader takes for something other than text.
bool has_other_meaning(std::string_view text) {
  constexpr std::array<std::string_view, 10> words
      = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(words.begin(), words.end(), lower) != words.end();
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((at(i) & 0xc0U) != 0x80U) return 0;
  const std::uint32_t code = code_point(text, size);
  if (size == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
    return 0;
  if (size == 4 && (code < 0x10000 || code > 0x10ffff)) return 0;
  return size;
}

std::string shown(std::string_view text) {
  std::string out = "`";
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count == shown_limit) {
      out += "...";
      break;
    }
    const std::size_t length = utf8_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0 || is_control(byte)) {
      add_escaped(out, byte);
      ++i;
      continue;
    }
    const std::uint32_t code = code_point(text.substr(i), length);
    if (is_hidden(code))
      add_code_point(out, code);
    else
      out += text.substr(i, length);
    i += length;
  }
  return out + '`';
}

std::string yaml_scalar(std::string_view text) {
  const bool plain = !text.empty() && plain_start(text.front())
                     && text.back() != ' '
                     && std::all_of(text.begin(), text.end(), plain_inside)
                     && !has_other_meaning(text);
  if (plain) return std::string(text);
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    // Broken bytes stay as they are: no escape stands for a byte.
    const std::size_t length = std::max<std::size_t>(utf8_length(rest), 1);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"')
      out += "\\\"";
    else if (is_control(byte) || byte == '\\')
      add_escaped(out, byte);
    else if (length > 1 && is_hidden(code_point(rest, length)))
      add_code_point(out, code_point(rest, length));
    else
      out += rest.substr(0, length);
    i += length;
  }
  return out + '"';
}

} // namespace kvloom::configs
