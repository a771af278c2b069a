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

/// What is searched for all questions alike.
struct passage_collection {
  std::vector<passage> passages; ///< numbered by place
  /// Of each passage, the question that brings it first and its index there;
  /// empty where the data set's own collection is searched.
  std::vector<std::pair<std::string, std::uint32_t>> origins;
};

/// The passages that all questions of a data set bring, each once (same
/// title, text and ids), or the data set's own collection.
passage_collection collection_of(const datasets::dataset& data);

/// Searches. Immutable after construction; called from one thread at a time.
class passage_search {
public:
  /// Over each question's own passages.
  explicit passage_search(const retriever_options& options);

  /// Over a collection, the same for all questions.
  passage_search(const retriever_options& options,
                 passage_collection collection);

  /// min(top_k, n) distinct passages. Passages given as token ids can't be
  /// searched: all of them are taken in their order, and if top_k is less
  /// than their number, that is an error (bad_input).
  result<retrieved> operator()(const asked_question& asked) const;

private:
  retriever_options options_;
  std::shared_ptr<const passage_collection> collection_;
  bool collection_has_ids_ = false;
  std::shared_ptr<const retrieval::bm25_index> index_;
};

/// The kind `retriever`.
node_type retriever_type();

} // namespace kvloom::actors
