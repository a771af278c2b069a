// What the chat styles put around system text, user text and answer.
#pragma once

#include "engine/prompt/prompt.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <string>
#include <vector>

namespace kvloom::engine {

/// A piece of a turn: a control token by its spelling, or plain text.
struct mark {
  std::string text;
  bool control = false;
};

struct chat_marks {
  std::vector<mark> opening; ///< before the instruction, system text included
  std::vector<mark> closing; ///< behind the question, up to the answer
};

/// `system` is put where the style has it; empty leaves its turn out.
chat_marks marks_of(chat_style style, const std::string& system,
                    const tokenizer& words);

} // namespace kvloom::engine
