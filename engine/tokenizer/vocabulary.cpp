#include "engine/tokenizer/vocabulary.hpp"

#include <utility>

namespace kvloom::engine {

result<void> vocabulary::add(std::string piece, token_id id) {
  // A single wrong id must not make a table of gigabytes.
  constexpr token_id end = 1 << 24;
  if (id < 0 || id >= end)
    return fail(errc::environment, "the vocabulary gives `" + piece
                                       + "` the id " + std::to_string(id)
                                       + "; ids are 0 to 16777215");
  const auto at = static_cast<std::size_t>(id);
  if (at >= pieces_.size()) pieces_.resize(at + 1);
  if (pieces_[at])
    return fail(errc::environment,
                "the vocabulary gives the id " + std::to_string(id) + " to `"
                    + *pieces_[at] + "` and to `" + piece + "`");
  pieces_[at] = std::make_unique<const std::string>(std::move(piece));
  ids_.emplace(*pieces_[at], id);
  return {};
}

std::optional<token_id> vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* vocabulary::piece(token_id id) const {
  const auto at = static_cast<std::size_t>(id);
  return id >= 0 && at < pieces_.size() ? pieces_[at].get() : nullptr;
}

} // namespace kvloom::engine
