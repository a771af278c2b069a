#include "engine/tokenizer/added_tokens.hpp"

#include "engine/tokenizer/unicode.hpp"

#include <algorithm>

namespace kvloom::engine {

namespace {

/// Begin of the character that ends at `end` > 0, in valid UTF-8.
std::size_t char_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

bool word_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  std::size_t begin = char_before(text, at);
  return is_word(next_char(text, begin));
}

bool word_behind(std::string_view text, std::size_t at) {
  return at < text.size() && is_word(next_char(text, at));
}

/// `at` moved back over blanks, not before `limit`.
std::size_t skip_back(std::string_view text, std::size_t at,
                      std::size_t limit) {
  while (at > limit) {
    const std::size_t begin = char_before(text, at);
    std::size_t probe = begin;
    if (!is_whitespace(next_char(text, probe))) break;
    at = begin;
  }
  return at;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::size_t next = at;
    if (!is_whitespace(next_char(text, next))) break;
    at = next;
  }
  return at;
}

} // namespace

added_token_matcher::added_token_matcher() : nodes_(1) {}

void added_token_matcher::add(std::string_view pattern,
                              const added_token& token) {
  if (pattern.empty()) return;
  starts_[static_cast<unsigned char>(pattern[0])] = true;
  std::size_t at = 0;
  for (const char c : pattern) {
    const auto byte = static_cast<unsigned char>(c);
    auto& children = nodes_[at].children;
    const auto place
        = std::lower_bound(children.begin(), children.end(), byte,
                           [](const auto& child, unsigned char value) {
                             return child.first < value;
                           });
    if (place != children.end() && place->first == byte) {
      at = place->second;
      continue;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    children.insert(place, {byte, made});
    nodes_.emplace_back();
    at = made;
  }
  if (nodes_[at].token >= 0) return;
  nodes_[at].token = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(token);
}

added_token_matcher::match
added_token_matcher::longest_at(std::string_view text, std::size_t at) const {
  match best;
  std::size_t where = 0;
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto& children = nodes_[where].children;
    const auto place
        = std::lower_bound(children.begin(), children.end(), byte,
                           [](const auto& child, unsigned char value) {
                             return child.first < value;
                           });
    if (place == children.end() || place->first != byte) break;
    where = place->second;
    if (nodes_[where].token >= 0) best = {at + 1, nodes_[where].token};
  }
  return best;
}

void added_token_matcher::split_one(const segmented_text& all,
                                    const text_segment& part, bool with_special,
                                    std::vector<text_segment>& cut) const {
  const auto text = all.view(part);
  std::size_t done = 0;
  const auto keep = [&](std::size_t begin, std::size_t end, token_id id) {
    if (id == no_token && begin >= end) return;
    cut.push_back({part.begin + begin, part.begin + end, id,
                   part.at_start && begin == 0});
  };
  for (std::size_t at = 0; at < text.size();) {
    if (!starts_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const match found = longest_at(text, at);
    if (found.token < 0) {
      ++at;
      continue;
    }
    const auto& token = tokens_[static_cast<std::size_t>(found.token)];
    std::size_t begin = at;
    std::size_t end = found.end;
    at = found.end;
    if (token.special && !with_special) continue;
    if (token.single_word
        && (word_before(text, begin) || word_behind(text, end)))
      continue;
    if (token.lstrip) begin = skip_back(text, begin, done);
    if (token.rstrip) end = skip_blanks(text, end);
    keep(done, begin, no_token);
    keep(begin, end, token.id);
    done = std::max(done, end);
    at = std::max(at, end);
  }
  keep(done, text.size(), no_token);
}

void added_token_matcher::split(segmented_text& all, bool with_special) const {
  if (tokens_.empty()) return;
  std::vector<text_segment> cut;
  cut.reserve(all.segments.size());
  for (const auto& part : all.segments) {
    if (part.id != no_token)
      cut.push_back(part);
    else
      split_one(all, part, with_special, cut);
  }
  all.segments.swap(cut);
}

} // namespace kvloom::engine
