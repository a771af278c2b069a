// A text on its way to ids: pieces of one buffer, some of them already ids.
#pragma once

#include "core/record/question.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::engine {

inline constexpr token_id no_token = -1;

/// Bytes [begin, end) of the buffer, not yet ids, or one id already.
struct text_segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  token_id id = no_token;
  bool at_start = false; ///< begins where the whole text begins
};

struct segmented_text {
  std::string text; ///< valid UTF-8
  std::vector<text_segment> segments;

  std::string_view view(const text_segment& part) const {
    return std::string_view(text).substr(part.begin, part.end - part.begin);
  }
};

/// Replaces the bytes of every segment that is no id yet by what
/// `rewrite(view, segment, out)` appends to `out`; segments that become empty
/// stay.
template <class Rewrite>
void rewrite_segments(segmented_text& all, Rewrite&& rewrite) {
  std::string out;
  out.reserve(all.text.size() + all.text.size() / 4);
  for (auto& part : all.segments) {
    if (part.id != no_token) continue;
    const std::size_t begin = out.size();
    rewrite(all.view(part), part, out);
    part.begin = begin;
    part.end = out.size();
  }
  all.text = std::move(out);
}

} // namespace kvloom::engine
