#include "engine/tokenizer/split.hpp"

#include "engine/tokenizer/unicode.hpp"

#include <algorithm>

namespace kvloom::engine {

namespace {

void cover(std::string_view text, const std::vector<byte_range>& matches,
           std::vector<stretch>& stretches) {
  std::size_t done = 0;
  for (const auto& match : matches) {
    if (done != match.begin) stretches.push_back({done, match.begin, false});
    stretches.push_back({match.begin, match.end, true});
    done = match.end;
  }
  if (done != text.size()) stretches.push_back({done, text.size(), false});
}

void find_literal(std::string_view text, const std::string& literal,
                  std::vector<byte_range>& matches) {
  if (literal.empty()) return;
  for (auto at = text.find(literal); at != std::string_view::npos;
       at = text.find(literal, at + literal.size()))
    matches.push_back({at, at + literal.size()});
}

void find_class(std::string_view text, char_test test,
                std::vector<byte_range>& matches) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (test(next_char(text, at))) matches.push_back({begin, at});
  }
}

/// Joins stretches in place as the behavior says; those left with
/// match == true are dropped by the caller.
void join(std::vector<stretch>& parts, split_behavior behavior) {
  if (behavior == split_behavior::removed) return;
  std::vector<stretch> joined;
  joined.reserve(parts.size());
  bool previous = false;
  const auto keep = [&](const stretch& part) {
    joined.push_back({part.begin, part.end, false});
  };
  switch (behavior) {
  case split_behavior::removed:
    break;
  case split_behavior::isolated:
    for (const auto& part : parts) keep(part);
    break;
  case split_behavior::merged_with_previous:
    for (const auto& part : parts) {
      if (part.match && !previous && !joined.empty())
        joined.back().end = part.end;
      else
        keep(part);
      previous = part.match;
    }
    break;
  case split_behavior::merged_with_next:
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->match && !previous && !joined.empty())
        joined.back().begin = part->begin;
      else
        keep(*part);
      previous = part->match;
    }
    std::reverse(joined.begin(), joined.end());
    break;
  case split_behavior::contiguous:
    for (const auto& part : parts) {
      if (part.match == previous && !joined.empty())
        joined.back().end = part.end;
      else
        keep(part);
      previous = part.match;
    }
    break;
  }
  parts.swap(joined);
}

} // namespace

result<void> find_stretches(const split_pattern& pattern, std::string_view text,
                            std::vector<stretch>& stretches) {
  thread_local std::vector<byte_range> matches;
  matches.clear();
  stretches.clear();
  if (text.empty()) return {}; // the reference finds nothing in no text
  if (const auto* expression = std::get_if<regex>(&pattern)) {
    if (auto found = expression->find_all(text, matches); !found) return found;
  } else if (const auto* literal = std::get_if<std::string>(&pattern)) {
    find_literal(text, *literal, matches);
  } else {
    find_class(text, std::get<char_test>(pattern), matches);
  }
  cover(text, matches, stretches);
  return {};
}

result<void> split_segments(segmented_text& all, const split_pattern& pattern,
                            split_behavior behavior, bool invert) {
  std::vector<text_segment> cut;
  cut.reserve(all.segments.size() * 2);
  std::vector<stretch> parts;
  for (const auto& part : all.segments) {
    if (part.id != no_token) {
      cut.push_back(part);
      continue;
    }
    if (auto found = find_stretches(pattern, all.view(part), parts); !found)
      return found;
    if (invert)
      for (auto& piece : parts) piece.match = !piece.match;
    join(parts, behavior);
    for (const auto& piece : parts) {
      if (piece.match || piece.begin == piece.end) continue;
      cut.push_back({part.begin + piece.begin, part.begin + piece.end, no_token,
                     part.at_start && piece.begin == 0});
    }
  }
  all.segments.swap(cut);
  return {};
}

} // namespace kvloom::engine
