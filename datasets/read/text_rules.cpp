#include "datasets/read/text_rules.hpp"

#include <array>
#include <cstdint>

namespace kvloom::datasets {

namespace {

struct character {
  std::uint32_t point = 0;
  std::size_t bytes = 1;
};

/// The first character; never longer than the text. Bytes that are no
/// character, or only the beginning of one, count as U+FFFD, one by one: raw
/// text of a file comes here before JSON checks it.
character first_of(std::string_view utf8) {
  constexpr character broken{0xFFFD, 1};
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(utf8[i]));
  };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xC0) return broken;
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes > utf8.size()) return broken;
  auto point = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return broken;
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array least{0x80U, 0x800U, 0x10000U}; // else spelt too long
  if (point < least.at(bytes - 2)) return broken;
  return {point, bytes};
}

/// Property White_Space of Unicode.
bool is_white(std::uint32_t point) {
  return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85
         || point == 0xA0 || point == 0x1680
         || (point >= 0x2000 && point <= 0x200A) || point == 0x2028
         || point == 0x2029 || point == 0x202F || point == 0x205F
         || point == 0x3000;
}

bool is_shapeless(std::uint32_t point) {
  return point == 0xAD || (point >= 0x200B && point <= 0x200F)
         || (point >= 0x202A && point <= 0x202E)
         || (point >= 0x2060 && point <= 0x2064) || point == 0xFEFF;
}

} // namespace

std::string_view stripped(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto first = first_of(utf8);
    if (!is_white(first.point)) break;
    utf8.remove_prefix(first.bytes);
  }
  while (!utf8.empty()) {
    auto start = utf8.size() - 1;
    while (start > 0
           && (static_cast<unsigned char>(utf8[start]) & 0xC0U) == 0x80U)
      --start;
    if (!is_white(first_of(utf8.substr(start)).point)) break;
    utf8 = utf8.substr(0, start);
  }
  return utf8;
}

bool is_blank(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto first = first_of(utf8);
    if (!is_white(first.point) && !is_shapeless(first.point)) return false;
    utf8.remove_prefix(first.bytes);
  }
  return true;
}

} // namespace kvloom::datasets
