// Cutting text at the matches of a pattern.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/regex.hpp"
#include "engine/tokenizer/segmented_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvloom::engine {

/// What becomes of a match: dropped, a piece of its own, joined to the piece
/// before or behind it, or joined to the matches that touch it.
enum class split_behavior : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous,
};

using char_test = bool (*)(char32_t);

/// A pattern is a regular expression, a literal text or a character class.
using split_pattern = std::variant<regex, std::string, char_test>;

/// A stretch of text that is a match, or lies between matches.
struct stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool match = false;
};

/// Cuts `text` into stretches that cover all of it.
result<void> find_stretches(const split_pattern& pattern, std::string_view text,
                            std::vector<stretch>& stretches);

/// Cuts every segment that is no id yet; empty pieces vanish. `invert` swaps
/// match and gap.
result<void> split_segments(segmented_text& all, const split_pattern& pattern,
                            split_behavior behavior, bool invert);

} // namespace kvloom::engine
