#include "engine/tokenizer/bpe_model.hpp"

#include "engine/tokenizer/byte_pieces.hpp"
#include "engine/tokenizer/merge_queue.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace kvloom::engine {

namespace {

/// (left id, right id) to rank and result, by open addressing.
class pair_table {
public:
  explicit pair_table(std::size_t pairs)
      : slots_(std::bit_ceil(pairs * 2 + 2)) {}

  /// A pair that comes twice takes the later rank, as in the reference.
  void put(token_id left, token_id right, std::int32_t rank, token_id made) {
    slot& at = slots_[place(key_of(left, right))];
    at = {key_of(left, right), rank, made};
  }

  std::optional<merge> find(token_id left, token_id right) const {
    const slot& at = slots_[place(key_of(left, right))];
    if (at.key == empty) return std::nullopt;
    return merge{static_cast<double>(at.rank), at.made};
  }

private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};
  struct slot {
    std::uint64_t key = empty;
    std::int32_t rank = 0;
    token_id made = 0;
  };

  static std::uint64_t key_of(token_id left, token_id right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32
           | static_cast<std::uint32_t>(right);
  }

  std::size_t place(std::uint64_t key) const {
    std::uint64_t hash = key * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].key != empty && slots_[at].key != key)
      at = (at + 1) & mask;
    return at;
  }

  std::vector<slot> slots_;
};

/// Ids without a byte range of their own: unknown tokens wait until the next
/// known piece, as in the reference.
struct pending_unknown {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool any = false;
};

class bpe_model final : public token_model {
public:
  bpe_model(std::shared_ptr<const vocabulary> words, std::size_t n_merges,
            bpe_options options, std::vector<bool> control)
      : words_(std::move(words)), options_(std::move(options)),
        control_(std::move(control)), pairs_(n_merges) {}

  result<void> set_up(const merge_list& merges) {
    std::int32_t rank = 0;
    for (const auto& [left, right] : merges) {
      const bool has_prefix = right.starts_with(options_.continuing_prefix);
      const std::string made
          = left
            + (has_prefix ? right.substr(options_.continuing_prefix.size())
                          : right);
      const auto a = words_->find(left);
      const auto b = words_->find(right);
      const auto c = words_->find(made);
      if (!a || !b || !c)
        return fail(errc::environment, "merge " + std::to_string(rank) + " (`"
                                           + left + "` `" + right
                                           + "`) needs the piece `"
                                           + (!a   ? left
                                              : !b ? right
                                                   : made)
                                           + "`, which the vocabulary lacks");
      if (!is_control(*c)) pairs_.put(*a, *b, rank, *c);
      ++rank;
    }
    if (options_.unknown) {
      unknown_ = words_->find(*options_.unknown);
      if (!unknown_)
        return fail(errc::environment, "the unknown token `" + *options_.unknown
                                           + "` is not in the vocabulary");
    }
    if (options_.byte_fallback) bytes_ = find_byte_pieces(*words_);
    return {};
  }

  result<void> append(std::string_view word,
                      std::vector<token_id>& ids) const override {
    if (word.empty()) return {};
    if (options_.ignore_merges) {
      if (const auto whole = find(word)) {
        ids.push_back(*whole);
        return {};
      }
    }
    thread_local std::vector<symbol> symbols;
    thread_local merge_queue queue;
    symbols.clear();
    cut(word, symbols);
    link_symbols(symbols);
    merge_symbols(symbols, queue, [this](const symbol& a, const symbol& b) {
      return pairs_.find(a.id, b.id);
    });
    for (const auto& one : symbols)
      if (one.begin != one.end) ids.push_back(one.id);
    // A word of 100,000 letters leaves no large buffer behind.
    if (symbols.capacity() > 65'536) {
      symbols = {};
      queue = {};
    }
    return {};
  }

private:
  bool is_control(token_id id) const {
    const auto at = static_cast<std::size_t>(id);
    return at < control_.size() && control_[at];
  }

  std::optional<token_id> find(std::string_view piece) const {
    const auto id = words_->find(piece);
    if (id && is_control(*id)) return std::nullopt;
    return id;
  }

  /// One symbol a character, a byte piece or an unknown token.
  void cut(std::string_view word, std::vector<symbol>& symbols) const {
    pending_unknown unknown;
    const auto flush = [&] {
      if (unknown.any)
        symbols.push_back({unknown.begin, unknown.end, *unknown_});
      unknown.any = false;
    };
    std::string spelled;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      at += utf8_length(static_cast<unsigned char>(word[at]));
      auto piece = word.substr(begin, at - begin);
      const bool first = begin == 0 || options_.continuing_prefix.empty();
      const bool last = at < word.size() || options_.word_suffix.empty();
      if (!first || !last) {
        spelled = first ? std::string() : options_.continuing_prefix;
        spelled += word.substr(begin, at - begin);
        if (!last) spelled += options_.word_suffix;
        piece = spelled;
      }
      if (const auto id = find(piece)) {
        flush();
        symbols.push_back({begin, at, *id});
      } else if (!fall_back(word.substr(begin, at - begin), piece, begin,
                            symbols)
                 && unknown_) {
        if (unknown.any && !options_.fuse_unknown) flush();
        if (!unknown.any) unknown = {begin, begin, true};
        unknown.end = at;
      }
    }
    flush();
  }

  /// Bytes of a character in place of it; false if a byte piece is missing.
  bool fall_back(std::string_view character, std::string_view piece,
                 std::size_t begin, std::vector<symbol>& symbols) const {
    if (!options_.byte_fallback) return false;
    for (const char c : piece)
      if (bytes_[static_cast<unsigned char>(c)] == no_byte_piece) return false;
    // With a prefix or suffix the piece has more bytes than the character;
    // every symbol still needs a range of its own.
    const std::size_t end = begin + character.size();
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const std::size_t from = std::min(begin + i, end - 1);
      const auto id = bytes_[static_cast<unsigned char>(piece[i])];
      symbols.push_back({from, i + 1 == piece.size() ? end : from + 1, id});
    }
    return true;
  }

  std::shared_ptr<const vocabulary> words_;
  bpe_options options_;
  std::vector<bool> control_;
  pair_table pairs_;
  std::optional<token_id> unknown_;
  byte_piece_ids bytes_{};
};

} // namespace

result<std::shared_ptr<const token_model>>
make_bpe_model(std::shared_ptr<const vocabulary> words,
               const merge_list& merges, const bpe_options& options,
               std::vector<bool> control) {
  auto made = std::make_shared<bpe_model>(std::move(words), merges.size(),
                                          options, std::move(control));
  if (auto ready = made->set_up(merges); !ready) return pass_on(ready);
  return std::shared_ptr<const token_model>(std::move(made));
}

} // namespace kvloom::engine
