#include "engine/tokenizer/score_model.hpp"

#include "engine/tokenizer/byte_pieces.hpp"
#include "engine/tokenizer/merge_queue.hpp"
#include "engine/tokenizer/segmented_text.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace kvloom::engine {

namespace {

class score_model final : public token_model {
public:
  score_model(std::shared_ptr<const vocabulary> words,
              std::vector<float> scores, std::vector<piece_type> types,
              std::optional<token_id> unknown)
      : words_(std::move(words)), scores_(std::move(scores)),
        types_(std::move(types)), unknown_(unknown),
        bytes_(find_byte_pieces(*words_)) {
    for (std::size_t id = 0; id < words_->size(); ++id) {
      const auto* piece = words_->piece(static_cast<token_id>(id));
      if (piece == nullptr) continue;
      longest_ = std::max(longest_, piece->size());
      any_unused_ = any_unused_ || types_[id] == piece_type::unused;
    }
  }

  result<void> append(std::string_view word,
                      std::vector<token_id>& ids) const override {
    std::vector<symbol> symbols;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      at += utf8_length(static_cast<unsigned char>(word[at]));
      symbols.push_back(
          {begin, at, find(word.substr(begin, at - begin)).value_or(no_token)});
    }
    link_symbols(symbols);
    merge_queue queue;
    parts_list parts;
    merge_symbols(
        symbols, queue,
        [&](const symbol& a, const symbol& b) -> std::optional<merge> {
          // The bound keeps one look-up short on any text.
          if (b.end - a.begin > longest_) return std::nullopt;
          const auto joined = word.substr(a.begin, b.end - a.begin);
          const auto id = find(joined);
          if (!id) return std::nullopt;
          if (is_unused(*id)) parts[joined] = {a.end - a.begin};
          return merge{-double{scores_[static_cast<std::size_t>(*id)]}, *id};
        });
    for (const auto& one : symbols) {
      if (one.begin == one.end) continue;
      if (auto done = put(word.substr(one.begin, one.end - one.begin), one.id,
                          parts, ids);
          !done)
        return done;
    }
    return {};
  }

private:
  /// Where an unused piece was joined.
  using parts_list = std::unordered_map<std::string_view, std::size_t>;

  bool is_unused(token_id id) const {
    return any_unused_
           && types_[static_cast<std::size_t>(id)] == piece_type::unused;
  }

  /// Only these pieces come from text.
  std::optional<token_id> find(std::string_view piece) const {
    const auto id = words_->find(piece);
    if (!id) return std::nullopt;
    switch (types_[static_cast<std::size_t>(*id)]) {
    case piece_type::normal:
    case piece_type::user_defined:
    case piece_type::unused:
      return id;
    default:
      return std::nullopt;
    }
  }

  result<void> put(std::string_view piece, token_id id, const parts_list& parts,
                   std::vector<token_id>& ids) const {
    // A piece is taken apart into shorter ones, so this ends; the list of
    // what is left stands in for recursion.
    std::vector<std::pair<std::string_view, token_id>> left = {{piece, id}};
    while (!left.empty()) {
      const auto [text, known] = left.back();
      left.pop_back();
      if (known != no_token && is_unused(known)) {
        if (const auto cut = parts.find(text); cut != parts.end()) {
          const auto head = text.substr(0, cut->second);
          const auto tail = text.substr(cut->second);
          left.emplace_back(tail, find(tail).value_or(no_token));
          left.emplace_back(head, find(head).value_or(no_token));
          continue;
        }
      }
      if (known != no_token) {
        ids.push_back(known);
      } else if (auto done = put_unknown(text, ids); !done) {
        return done;
      }
    }
    return {};
  }

  result<void> put_unknown(std::string_view text,
                           std::vector<token_id>& ids) const {
    const bool all = std::all_of(text.begin(), text.end(), [&](char c) {
      return bytes_[static_cast<unsigned char>(c)] != no_byte_piece;
    });
    if (all) {
      for (const char c : text)
        ids.push_back(bytes_[static_cast<unsigned char>(c)]);
      return {};
    }
    if (!unknown_)
      return fail(errc::bad_input,
                  "the vocabulary has no piece for `" + std::string(text)
                      + "`, no pieces for its bytes and no unknown token");
    ids.push_back(*unknown_);
    return {};
  }

  std::shared_ptr<const vocabulary> words_;
  std::vector<float> scores_;
  std::vector<piece_type> types_;
  std::optional<token_id> unknown_;
  byte_piece_ids bytes_;
  std::size_t longest_ = 0;
  bool any_unused_ = false;
};

} // namespace

std::shared_ptr<const token_model>
make_score_model(std::shared_ptr<const vocabulary> words,
                 std::vector<float> scores, std::vector<piece_type> types,
                 std::optional<token_id> unknown) {
  return std::make_shared<score_model>(std::move(words), std::move(scores),
                                       std::move(types), unknown);
}

} // namespace kvloom::engine
