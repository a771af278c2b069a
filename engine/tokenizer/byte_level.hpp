// The alphabet of byte-level BPE: one printable character for every byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// Appends the character of every byte: printable Latin-1 bytes stand for
/// themselves, the 68 others for U+0100 and up, in order (GPT-2).
void append_byte_chars(std::string_view bytes, std::string& out);

/// The bytes that the characters stand for; empty optional if one of them is
/// not in the alphabet.
std::optional<std::string> from_byte_chars(std::string_view text);

} // namespace kvloom::engine
