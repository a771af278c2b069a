// BM25 over Unicode words.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::retrieval {

/// Okapi BM25 with the idf of Lucene, log(1 + (N - n + 0.5) / (n + 0.5)), so
/// that no term counts negatively (Robertson and Zaragoza 2009). A passage's
/// score is the sum over the query's words, repeats included, of
///   idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * words / mean words)).
struct bm25_options {
  double k1 = 1.2;
  double b = 0.75;
};

/// An index over passages (title and text). Immutable; search from any
/// thread.
class bm25_index {
public:
  /// Keeps nothing of `passages` but their indices, in which results speak.
  /// Of two passages with one index the first counts.
  explicit bm25_index(std::span<const passage> passages,
                      const bm25_options& options = {});
  ~bm25_index();
  bm25_index(bm25_index&&) noexcept;
  bm25_index& operator=(bm25_index&&) noexcept;

  /// The k best passages, distinct, best first, ties by lower index; passages
  /// that share no word with the query follow with score 0, so that exactly
  /// min(k, passages allowed) come back. `allowed` (indices; empty: all) is
  /// applied before the cut and changes no score; indices that the index
  /// lacks are passed over.
  std::vector<scored_passage> search(std::string_view query, std::size_t k,
                                     std::span<const std::uint32_t> allowed
                                     = {}) const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Words of a text: maximal runs of letters, digits and marks (Unicode) after
/// NFKC_Casefold, so that full-width letters, ligatures, composed and
/// decomposed accents and either case meet, and soft hyphens and joiners part
/// nothing; an ideograph, kana or hangul run gives its characters one by one.
/// Bytes that are no UTF-8 part words.
std::vector<std::string> unicode_words(std::string_view text);

} // namespace kvloom::retrieval
