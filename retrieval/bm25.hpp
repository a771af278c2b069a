// BM25 over Unicode words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/record/question.hpp"

namespace kvloom::retrieval {

/// Okapi BM25 with the idf of Lucene, log(1 + (N - n + 0.5) / (n + 0.5)), so
/// that no term counts negatively (Robertson and Zaragoza 2009).
struct bm25_options {
  double k1 = 1.2;
  double b = 0.75;
};

/// An index over passages (title and text). Immutable; search from any
/// thread.
class bm25_index {
public:
  /// Keeps nothing of `passages` but their indices.
  explicit bm25_index(std::span<const passage> passages,
                      const bm25_options& options = {});
  ~bm25_index();
  bm25_index(bm25_index&&) noexcept;
  bm25_index& operator=(bm25_index&&) noexcept;

  /// The k best passages, distinct, best first, ties by lower index; passages
  /// that share no word with the query follow with score 0, so that exactly
  /// min(k, passages allowed) come back. `allowed` (indices; empty: all) is
  /// applied before the cut.
  std::vector<scored_passage>
  search(std::string_view query, std::size_t k,
         std::span<const std::uint32_t> allowed = {}) const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Words of a text: maximal runs of letters, digits and marks (Unicode), case
/// folded, NFKC; a CJK ideograph, kana or hangul run gives its characters
/// one by one.
std::vector<std::string> unicode_words(std::string_view text);

} // namespace kvloom::retrieval
