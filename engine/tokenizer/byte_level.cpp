#include "engine/tokenizer/byte_level.hpp"

#include "engine/tokenizer/unicode.hpp"

#include <array>

namespace kvloom::engine {

namespace {

constexpr char32_t alphabet_end = 256 + 68;

struct byte_alphabet {
  std::array<std::string, 256> chars;
  std::array<int, alphabet_end> bytes{};

  byte_alphabet() {
    bytes.fill(-1);
    char32_t spare = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable
          = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
      const char32_t c = printable ? byte : spare++;
      append_char(chars[byte], c);
      bytes[c] = static_cast<int>(byte);
    }
  }
};

const byte_alphabet& alphabet() {
  static const byte_alphabet one;
  return one;
}

} // namespace

void append_byte_chars(std::string_view bytes, std::string& out) {
  const auto& chars = alphabet().chars;
  for (const char byte : bytes) out += chars[static_cast<unsigned char>(byte)];
}

std::optional<std::string> from_byte_chars(std::string_view text) {
  const auto& bytes = alphabet().bytes;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    if (c >= alphabet_end || bytes[c] < 0) return std::nullopt;
    out += static_cast<char>(bytes[c]);
  }
  return out;
}

} // namespace kvloom::engine
