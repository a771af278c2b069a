#include "engine/tokenizer/byte_pieces.hpp"

#include <string>

namespace kvloom::engine {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

} // namespace

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>')
    return std::nullopt;
  const int high = hex_value(piece[3]);
  const int low = hex_value(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

byte_piece_ids find_byte_pieces(const vocabulary& words) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  byte_piece_ids ids{};
  for (std::size_t byte = 0; byte < ids.size(); ++byte) {
    std::string piece = "<0x";
    piece += digits[byte / 16];
    piece += digits[byte % 16];
    piece += '>';
    ids[byte] = words.find(piece).value_or(no_byte_piece);
  }
  return ids;
}

} // namespace kvloom::engine
