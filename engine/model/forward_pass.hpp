// The arithmetic of the Llama family: token ids in, KV and logits out.
#pragma once

#include "core/record/question.hpp"
#include "engine/model/kv_tail.hpp"
#include "engine/model/model_config.hpp"
#include "engine/model/model_weights.hpp"
#include "engine/model/segment_attention.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::engine {

/// Rows of a batch that belong to one request: they append to `tail` at
/// tail->length()..., and see it and themselves.
struct row_span {
  kv_tail* tail = nullptr;
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
};

/// Which weights and products a pass uses.
enum class pass_kind : std::uint8_t {
  prefill, ///< prefill weights, product chosen by the number of rows
  decode   ///< decode weights, rows independent bit for bit
};

/// Runs rows through all layers. Owns the buffers, sized by the largest batch
/// so far; one call at a time, on the caller's TBB arena. The model parts
/// outlive it.
class forward_pass {
public:
  forward_pass(const model_config& config, const model_weights& weights,
               const rotation& turn);

  /// Computes the KV of `ids` (row i is token ids[i]) into the tails, whose
  /// lengths stay as they are, and the logits of the last `n_wanted` rows.
  /// With n_wanted < ids.size() there is one span. False when `stop` became
  /// true on the way; then KV and logits are incomplete.
  /// Ids, capacities and context length are checked by the caller.
  bool run(pass_kind kind, std::span<const token_id> ids,
           std::span<const row_span> spans, std::int64_t n_wanted,
           const std::atomic<bool>* stop);

  /// Logits of the last run, [n_wanted, vocab_size]; valid until the next.
  std::span<const float> logits() const { return logits_; }

private:
  void reserve(std::int64_t n_rows);
  void embed(std::span<const token_id> ids, std::span<const row_span> spans);
  void project_qkv(const layer_matrices& m, const layer_vectors& v,
                   std::int64_t n_rows, product how);
  void write_kv(std::int64_t layer, std::span<const row_span> spans);
  void attend_rows(std::int64_t layer, const row_span& span,
                   std::int64_t n_rows, std::int64_t to_row,
                   segment_scratch& scratch);
  void attention(std::int64_t layer, std::span<const row_span> spans,
                 std::int64_t n_rows);
  void mlp(const layer_matrices& m, const layer_vectors& v, std::int64_t n_rows,
           product how);

  const model_config& config_;
  const model_weights& weights_;
  const rotation& turn_;
  std::int64_t q_width_, kv_width_, qkv_width_;
  float scale_;
  std::vector<float> x_;       ///< residual stream [n_rows, hidden]
  std::vector<float> h_;       ///< normed input [n_rows, hidden]
  std::vector<float> delta_;   ///< a block's output [n_rows, hidden]
  std::vector<float> qkv_;     ///< [n_rows, q_width + 2 kv_width]
  std::vector<float> o_;       ///< attention [n_rows, q_width]
  std::vector<float> lse_;     ///< [n_rows, n_q_heads]
  std::vector<float> gate_up_; ///< [n_rows, 2 intermediate]
  std::vector<float> act_;     ///< [n_rows, intermediate]
  std::vector<float> logits_;
  std::vector<float> stacked_;           ///< scratch of projections
  std::vector<std::int64_t> positions_;  ///< [n_rows]
  std::vector<segment_scratch> scratch_; ///< one a span
};

} // namespace kvloom::engine
