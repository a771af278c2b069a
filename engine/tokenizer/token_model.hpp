// What turns a word into ids once the text is cut.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <string_view>
#include <vector>

namespace kvloom::engine {

/// Immutable, any thread.
class token_model {
public:
  virtual ~token_model() = default;

  /// Appends the ids of one word (valid UTF-8). Takes n log n time and
  /// constant stack. Errors: bad_input for a character that neither the
  /// vocabulary nor an unknown token stands for, where the format says so.
  virtual result<void> append(std::string_view word,
                              std::vector<token_id>& ids) const = 0;
};

} // namespace kvloom::engine
