// Tokens that are looked for in a text before the model sees it.
#pragma once

#include "core/record/question.hpp"
#include "engine/tokenizer/segmented_text.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvloom::engine {

/// One entry of `added_tokens`.
struct added_token {
  token_id id = no_token;
  std::string content;
  bool special = false;     ///< a control token
  bool single_word = false; ///< only where no word character touches it
  bool lstrip = false;      ///< takes the blanks before it
  bool rstrip = false;      ///< takes the blanks behind it
  bool normalized = false;  ///< looked for in the normalised text
};

/// Finds added tokens: leftmost first, the longest of those that start there.
/// Immutable after it is filled; any thread.
class added_token_matcher {
public:
  added_token_matcher();

  /// Looks for `pattern`; the first token with a pattern has it.
  void add(std::string_view pattern, const added_token& token);

  /// Turns every match within the segments that are no ids yet into an id.
  /// Unless `with_special`, special tokens are passed over as plain text.
  void split(segmented_text& all, bool with_special) const;

private:
  struct node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children; ///< sorted
    std::int32_t token = -1; ///< of tokens_, that ends here
  };
  struct match {
    std::size_t end = 0;
    std::int32_t token = -1;
  };

  match longest_at(std::string_view text, std::size_t at) const;
  void split_one(const segmented_text& all, const text_segment& part,
                 bool with_special, std::vector<text_segment>& cut) const;

  std::vector<node> nodes_;
  std::vector<added_token> tokens_;
  std::array<bool, 256> starts_{}; ///< first bytes of patterns
};

} // namespace kvloom::engine
