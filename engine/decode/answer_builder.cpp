#include "engine/decode/sampling.hpp"

#include <algorithm>

namespace kvloom::engine {

namespace {

/// Whether a character of valid UTF-8 begins at `at`, or the text ends there.
bool is_border(std::string_view text, std::size_t at) {
  return at >= text.size()
         || (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
}

/// First place at or after `from` where `wanted` stands in whole characters.
std::size_t find_whole(std::string_view text, std::string_view wanted,
                       std::size_t from) {
  std::size_t at = text.find(wanted, from);
  while (at != std::string_view::npos
         && !(is_border(text, at) && is_border(text, at + wanted.size())))
    at = text.find(wanted, at + 1);
  return at;
}

} // namespace

answer_builder::answer_builder(std::shared_ptr<const tokenizer> words,
                               std::vector<token_id> eos,
                               std::int64_t max_new_tokens,
                               std::vector<std::string> stop_strings)
    : decoder_(std::move(words)), eos_(std::move(eos)),
      max_new_tokens_(max_new_tokens), stop_strings_(std::move(stop_strings)) {
  std::erase_if(stop_strings_, [](const std::string& s) { return s.empty(); });
  for (const std::string& stop : stop_strings_)
    longest_stop_ = std::max(longest_stop_, stop.size());
}

bool answer_builder::cut_at_stop(std::size_t searched) {
  // A match that ends in the new text may start up to one byte less than the
  // longest stop string before it.
  const std::size_t from
      = searched
        - std::min(searched, longest_stop_ > 0 ? longest_stop_ - 1 : 0);
  std::size_t first = std::string::npos;
  for (const std::string& stop : stop_strings_)
    first = std::min(first, find_whole(text_, stop, from));
  if (first == std::string::npos) return false;
  text_.resize(first);
  finish_ = finish_reason::stop;
  return true;
}

void answer_builder::end(finish_reason why) {
  const std::size_t before = text_.size();
  text_ += decoder_.finish();
  if (!cut_at_stop(before)) finish_ = why;
}

bool answer_builder::push(token_id id) {
  if (finish_) return true;
  ids_.push_back(id);
  if (std::find(eos_.begin(), eos_.end(), id) != eos_.end()) {
    end(finish_reason::eos);
    return true;
  }
  const std::size_t before = text_.size();
  text_ += decoder_.push(id);
  if (cut_at_stop(before)) return true;
  if (static_cast<std::int64_t>(ids_.size()) >= max_new_tokens_)
    end(finish_reason::length);
  return finish_.has_value();
}

} // namespace kvloom::engine
