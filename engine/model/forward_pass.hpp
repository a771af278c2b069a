// The arithmetic of the Llama family: token ids in, KV and logits out.
#pragma once

#include "core/record/question.hpp"
#include "engine/model/model_config.hpp"
#include "engine/model/model_weights.hpp"
#include "engine/model/segment_attention.hpp"
#include "engine/segments/request_kv.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::engine {

/// Rows of a batch that belong to one request: they append to its tail, and
/// see all of its KV and themselves.
struct row_span {
  request_kv* kv = nullptr;
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
};

/// Which weights and products a pass uses.
enum class pass_kind : std::uint8_t {
  prefill, ///< prefill weights, product chosen by the number of rows
  decode   ///< decode weights, rows independent bit for bit
};

/// K and V of the rows in flow: [n_rows, n_kv_heads, head_dim], keys rotated.
struct fresh_kv {
  const float* k = nullptr;
  const float* v = nullptr;
  std::int64_t row_stride = 0; ///< floats
};

/// Runs rows through all layers: in one call, run(), or step by step, where
/// rows leave the flow on the way (selective recompute). Owns the buffers,
/// sized by the largest batch so far; one call at a time, on the caller's TBB
/// arena. The model parts outlive it.
class forward_pass {
public:
  forward_pass(const model_config& config, const model_weights& weights,
               const rotation& turn);

  /// Computes the KV of `ids` (row i is token ids[i]) into the tails, whose
  /// lengths stay as they are, and the logits of the last `n_wanted` rows.
  /// With 0 < n_wanted < ids.size() there is one span. False when `stop` became
  /// true on the way; then KV and logits are incomplete.
  /// Ids, capacities and context length are checked by the caller.
  bool run(pass_kind kind, std::span<const token_id> ids,
           std::span<const row_span> spans, std::int64_t n_wanted,
           const std::atomic<bool>* stop);

  /// Logits of the last run, [n_wanted, vocab_size]; valid until the next.
  std::span<const float> logits() const { return logits_; }

  // -- step by step: begin; for every layer project, (keep), attend, finish;
  // then compute_logits ------------------------------------------------------

  /// Rows of `ids` at `positions` enter the first layer.
  void begin(std::span<const token_id> ids,
             std::span<const std::int64_t> positions);
  std::int64_t n_rows() const { return n_rows_; }
  const std::int64_t* positions() const { return positions_.data(); }

  /// Q, K and V of a layer for all rows in flow.
  void project(std::int64_t layer, pass_kind kind);
  fresh_kv kv() const;
  /// [n_rows, n_q_heads, head_dim], rotated.
  const float* queries() const { return qkv_.data(); }
  std::int64_t qkv_stride() const { return qkv_width_; }

  /// Only these rows (ascending) stay in flow, behind project().
  void keep(std::span<const std::int64_t> rows);

  /// Attention of rows [first, first + n) over `segments`. Keys at positions
  /// up to seen_from[row] are visible; null: up to the row's own position.
  void attend(std::int64_t layer, std::int64_t first, std::int64_t n,
              const std::int64_t* seen_from,
              std::span<const placed_segment> segments,
              segment_scratch& scratch);
  /// Adds to mass [n_keys] how much of the attention of rows [first, first + n)
  /// the keys of a segment got in the last attend.
  void add_mass(std::int64_t layer, std::int64_t first, std::int64_t n,
                const placed_segment& segment, segment_scratch& scratch,
                double* mass) const;

  /// Everything behind the attention of a layer.
  void finish(std::int64_t layer, pass_kind kind);

  /// Logits of the last `n_wanted` rows in flow.
  void compute_logits(std::int64_t n_wanted, pass_kind kind);

private:
  kernels::attention_params rows_of(std::int64_t layer, std::int64_t first,
                                    std::int64_t n) const;
  void reserve(std::int64_t n_rows);
  const layer_matrices& matrices(std::int64_t layer, pass_kind kind) const;
  void append(std::int64_t layer, std::span<const row_span> spans);
  void attend_spans(std::int64_t layer, std::span<const row_span> spans);
  void attend_tail(std::int64_t layer, const row_span& span, std::int64_t skip,
                   segment_scratch& scratch);

  const model_config& config_;
  const model_weights& weights_;
  const rotation& turn_;
  std::int64_t q_width_, kv_width_, qkv_width_;
  float scale_;
  std::int64_t n_rows_ = 0;
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
