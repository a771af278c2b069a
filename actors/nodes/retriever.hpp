// Chooses the passages of a question: BM25 over its own passages or over a
// whole collection.
#pragma once

#include "actors/interfaces/payloads.hpp"
#include "actors/wiring/registry.hpp"
#include "retrieval/bm25.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kvloom::actors {

struct retriever_options {
  std::size_t top_k = 4;
  bool original_order = false; ///< in the prompt; else best first
};

/// The passages that all questions of a data set bring, each once (same
/// title, text and ids), or the data set's own collection; numbered anew.
std::vector<passage> collection_of(const datasets::dataset& data);

/// Searches. Immutable after construction; called from one thread at a time.
class passage_search {
public:
  /// Over each question's own passages.
  explicit passage_search(const retriever_options& options);

  /// Over a collection, the same for all questions.
  passage_search(const retriever_options& options,
                 std::vector<passage> collection);

  /// min(top_k, n) distinct passages. Passages given as token ids can't be
  /// searched: all of them are taken in their order, and if top_k is less
  /// than their number, that is an error (bad_input).
  result<retrieved> operator()(const asked_question& asked) const;

private:
  retriever_options options_;
  std::shared_ptr<const std::vector<passage>> collection_;
  bool collection_has_ids_ = false;
  std::shared_ptr<const retrieval::bm25_index> index_;
};

/// The kind `retriever`.
node_type retriever_type();

} // namespace kvloom::actors
