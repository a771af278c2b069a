// Prefill over stored chunks: only the rows in flow are computed.
#pragma once

#include "core/base/result.hpp"
#include "engine/model/forward_pass.hpp"
#include "engine/prefill/choose_rows.hpp"
#include "engine/prefill/prefill_plan.hpp"
#include "engine/segments/request_kv.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::engine {

/// Chunks of a plan where they belong.
std::vector<placed_chunk> placed_chunks(const prefill_plan& plan);

/// Carries out one plan for one request. Calls as forward_pass.
class blend_pass {
public:
  blend_pass(const model_config& config, const rotation& turn, dtype kv_type,
             forward_pass& pass, const prefill_plan& plan);

  /// Fills patches and tail of `kv`, which is made of placed_chunks() and an
  /// empty tail at the end of the context. `oracle` holds a score for every
  /// reused row; only that rule reads it. Errors: cancelled; environment when
  /// memory is short.
  result<prefill_outcome> run(request_kv& kv, std::span<const double> oracle,
                              const std::atomic<bool>* stop);

  /// Attention of the question over the context with nothing repaired,
  /// [context rows]: of each layer normalised over the context and summed, or
  /// of the last layer alone, raw. Leaves patches and tail as for ratio 0.
  result<std::vector<double>> question_attention(request_kv& kv,
                                                 bool last_layer_only,
                                                 const std::atomic<bool>* stop);

  /// Positions of the reused rows, ascending.
  const std::vector<std::int64_t>& reused() const { return reused_; }

private:
  /// The rows of one pass through the layers: context rows, then the question.
  struct flow {
    std::vector<std::int64_t> context; ///< positions, ascending
    row_positions shared;              ///< the same, for patches
    std::span<const check_stage> stages;
    bool whole_question = false; ///< all its rows go through the last layer
    std::vector<double>* mass = nullptr; ///< [n_context], or none
    bool last_layer_only = false;
    std::int64_t chosen_ns = 0; ///< when the last stage had chosen
  };

  result<void> through(flow& now, request_kv& kv,
                       const std::atomic<bool>* stop);
  result<void> make_patch(const flow& now, request_kv& kv, std::int64_t layer);
  void write_patch(request_kv& kv, std::int64_t layer);
  void filter(flow& now, const request_kv& kv, std::int64_t layer, double ratio,
              std::vector<std::int64_t>& rows);
  void attend(const flow& now, request_kv& kv, std::int64_t layer);
  void take_mass(const flow& now, std::int64_t layer);
  std::vector<double> deviations(std::span<const std::int64_t> in_flow,
                                 const request_kv& kv,
                                 std::int64_t layer) const;
  std::int64_t seen_keys(std::int64_t row, std::int64_t layer) const;
  double whole_operations() const;

  const model_config& config_;
  const rotation& turn_;
  dtype kv_type_;
  forward_pass& pass_;
  const prefill_plan& plan_;
  std::int64_t n_context_ = 0;
  std::vector<token_id> ids_; ///< of the whole prompt
  std::vector<reused_chunk> candidates_;
  std::vector<std::int64_t> reused_; ///< positions of the candidates' rows
  std::vector<std::int64_t> missed_; ///< always computed
  std::vector<std::int64_t> forced_; ///< reused rows that are always taken
  std::int64_t exact_rows_ = 0;      ///< stored rows that are no candidates
  std::vector<double> scores_; ///< [reused] of rules that don't compare, and
                               ///< factors of those that do; empty: 1
  std::vector<std::int64_t> seen_; ///< last key that a row in flow sees
  segment_scratch scratch_;
  double operations_ = 0;
};

} // namespace kvloom::engine
