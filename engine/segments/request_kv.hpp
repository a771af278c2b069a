// All KV of one request: shared chunks, the rows computed afresh among them,
// and its own growing tail.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "engine/model/kv_tail.hpp"
#include "engine/model/segment_attention.hpp"
#include "engine/segments/kv_rows.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kvloom::engine {

/// A chunk's KV at its place in a prompt; the keys are not moved, queries are
/// turned to meet them.
struct placed_chunk {
  kv_lease chunk;
  std::int64_t start = 0; ///< absolute position of its first token

  std::int64_t shift() const { return start - chunk->base(); }
  std::int64_t end() const { return start + chunk->shape().n_tokens; }
};

/// Context (positions 0 ... context_length - 1: chunks and patches), then the
/// tail. A patch row hides the row of a chunk at its position. The chunks are
/// shared and never written. Move-only; not thread-safe.
class request_kv {
public:
  /// Only a tail, at position 0.
  explicit request_kv(kv_tail tail);
  /// `chunks` ascend, do not overlap and end at or before the tail's first
  /// position. Positions that no chunk holds must be in every layer's patch.
  request_kv(kv_tail tail, std::vector<placed_chunk> chunks,
             std::int64_t n_layers);

  kv_tail& tail() { return tail_; }
  const kv_tail& tail() const { return tail_; }
  std::int64_t length() const { return tail_.next_position(); }
  std::int64_t bytes() const; ///< of its own: tail and patches
  const std::vector<placed_chunk>& chunks() const { return chunks_; }

  /// Positions of a layer that no chunk answers for from now on; the rows are
  /// to be written. Layers that share `positions` share what is hidden.
  result<void> patch(std::int64_t layer, std::int64_t n_kv_heads,
                     std::int64_t head_dim, dtype type,
                     const row_positions& positions);
  kv_rows& patch_rows(std::int64_t layer);
  const kv_rows* patch_rows(std::int64_t layer) const;

  /// What the queries of a layer meet: chunks with something left to see, the
  /// patch, and rows [tail_first, tail_last) of the tail; appended to `out`.
  void segments(std::int64_t layer, std::int64_t tail_first,
                std::int64_t tail_last, std::vector<placed_segment>& out) const;

private:
  /// For every chunk a bitmap of hidden keys; empty: none is hidden.
  struct hidden_keys {
    std::vector<std::vector<std::uint64_t>> words;
    std::vector<std::int64_t> left; ///< keys to be seen, of each chunk
  };

  std::shared_ptr<const hidden_keys> hide(const row_positions& positions) const;

  kv_tail tail_;
  std::vector<placed_chunk> chunks_;
  std::vector<kv_rows> patches_; ///< [n_layers], or empty
  std::vector<std::shared_ptr<const hidden_keys>> hidden_;
};

/// One layer of a chunk where it lies.
placed_segment segment_of(const placed_chunk& placed, std::int64_t layer);

} // namespace kvloom::engine
