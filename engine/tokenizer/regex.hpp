// Compiled regular expressions over UTF-8 (PCRE2 with just-in-time code).
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::engine {

/// Half-open range of bytes.
struct byte_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Immutable; may be used from any thread. Matching needs constant stack.
class regex {
public:
  /// Compiles an expression as tokenizer files write it (to_pcre2()).
  /// Errors: bad_input with expression, offset and reason.
  static result<regex> compile(std::string_view pattern);

  /// All matches from left to right, without overlap; an empty match that
  /// touches the one before it is skipped. `text` is valid UTF-8. Errors:
  /// bad_input when the match limit is reached.
  result<void> find_all(std::string_view text,
                        std::vector<byte_range>& found) const;

  /// Whether it matches anywhere; false too when the limit is reached.
  bool matches(std::string_view text) const;

private:
  struct code;
  explicit regex(std::shared_ptr<const code> compiled);
  result<bool> next(std::string_view text, std::size_t from,
                    byte_range& found) const;
  std::shared_ptr<const code> code_;
};

} // namespace kvloom::engine
