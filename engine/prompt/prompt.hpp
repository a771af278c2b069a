// Prompts built from segments whose ids are concatenated, never re-tokenised.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {

/// How a chat model wants its turns marked. `none` is for base models.
enum class chat_style : std::uint8_t { none, chatml, llama2, llama3, mistral };

/// Wording of a prompt; which text goes where. Placeholders: none, the parts
/// are concatenated (docs/user_guide.md).
struct prompt_wording {
  chat_style style = chat_style::none;
  std::string system;      ///< system turn; empty: none
  std::string instruction; ///< opening of the user turn, before the passages
  /// Around each passage: before, between title and text (only if there is a
  /// title), after.
  std::string passage_before, title_separator = "\n", passage_after = "\n\n";
  std::string question_before; ///< in front of the question
  std::string question_after;  ///< behind it, before the turn is closed
};

enum class segment_role : std::uint8_t { opening, passage, closing };

struct prompt_segment {
  segment_role role = segment_role::opening;
  std::uint32_t passage_index = 0; ///< passage::index, for passages
  std::vector<token_id> ids;
};

/// opening, passages in the order given, closing; the first id is the one BOS
/// where the model has one, no other segment contains it.
struct prompt {
  std::vector<prompt_segment> segments;
  std::size_t size() const;          ///< tokens of all segments
  std::vector<token_id> ids() const; ///< concatenated
};

/// Builds the prompt of one question over the chosen passages. Ids given in
/// the data (passage::ids, prefix_ids, question_ids) are used as they are;
/// given prefix_ids replace the whole opening and question_ids the whole
/// closing. Errors: bad_input naming question and passage (text that is not
/// UTF-8, a control token that the tokenizer lacks).
result<prompt> build_prompt(const tokenizer& words,
                            const prompt_wording& wording,
                            const question& asked,
                            std::span<const passage* const> passages);

/// Finds the style from the tokenizer's own chat template and control tokens;
/// bad_input where it is none of the declared ones.
result<chat_style> recognise_style(const tokenizer& words);

const char* to_string(chat_style style);
result<chat_style> parse_chat_style(std::string_view name);

} // namespace kvloom::engine
