// Pieces of a vocabulary and their ids.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kvloom::engine {

/// Immutable after it is filled; moving it keeps the views valid. Two ids may
/// have the same spelling; the first one is found.
class vocabulary {
public:
  vocabulary() = default;
  vocabulary(const vocabulary&) = delete;
  vocabulary& operator=(const vocabulary&) = delete;
  vocabulary(vocabulary&&) noexcept = default;
  vocabulary& operator=(vocabulary&&) noexcept = default;

  /// Errors: environment, for an id below 0, beyond 2^24, or that has another
  /// piece already.
  result<void> add(std::string piece, token_id id);

  std::optional<token_id> find(std::string_view piece) const;
  /// Null for an id without a piece.
  const std::string* piece(token_id id) const;
  std::size_t size() const { return pieces_.size(); } ///< largest id + 1

private:
  std::vector<std::unique_ptr<const std::string>> pieces_;
  std::unordered_map<std::string_view, token_id> ids_;
};

} // namespace kvloom::engine
