// Attention of rows over one KV segment, with log-sum-exp, and the merge of
// partial results (FlashAttention-2, Dao 2023; the merge is that of
// flash-decoding).
//
// Dimensions: n_rows query rows, n_q_heads, n_kv_heads, head_dim, n_keys keys
// of the segment. group = n_q_heads / n_kv_heads; query head h reads KV head
// h / group.
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstdint>

namespace kvloom::kernels {

/// One layer of one KV segment. Keys are stored rotated at segment-local
/// positions; queries come rotated to match (rotate() by minus the shift).
struct kv_segment_view {
  const void* k = nullptr; ///< [n_kv_heads][head_stride / head_dim][head_dim]
  const void* v = nullptr; ///< the same
  dtype type = dtype::f32; ///< f32, bf16 or f16
  std::int64_t head_stride = 0; ///< elements from one KV head to the next
  std::int64_t n_keys = 0;
  /// Absolute position of key j: positions[j] if given, else first_position
  /// + j. `positions` must ascend.
  std::int64_t first_position = 0;
  const std::int64_t* positions = nullptr; ///< [n_keys] or null
  /// Bit j (word j / 64, bit j % 64) set: key j is stale, seen by nobody.
  const std::uint64_t* stale = nullptr; ///< [(n_keys + 63) / 64] or null
};

/// Attention of `n_rows` rows over one segment. Key at position p is visible
/// to a row at position m if p <= m and (window == 0 or p > m - window).
struct attention_params {
  std::int64_t n_rows = 0, n_q_heads = 0, n_kv_heads = 0, head_dim = 0;
  const float* q = nullptr;      ///< [n_rows, n_q_heads, head_dim], rotated
  std::int64_t q_row_stride = 0; ///< floats from row to row
  const std::int64_t* row_positions = nullptr; ///< [n_rows], absolute
  kv_segment_view segment;
  float scale = 1;         ///< on the scores, 1/sqrt(head_dim) as a rule
  std::int64_t window = 0; ///< tokens, 0: none
  float* o = nullptr;      ///< [n_rows, n_q_heads, head_dim], dense
  float* lse = nullptr;    ///< [n_rows, n_q_heads], natural logarithm
};

/// o = sum_j e^(s_j - lse) v_j and lse = log sum_j e^(s_j) over the visible
/// keys; with none, o = 0 and lse = -infinity. Accumulates in f32. Runs on
/// the caller's TBB arena, in tiles that do not depend on the number of
/// threads: the same input gives the same bits. Up to 8 rows at a time, a row
/// has the same bits as alone (a verified draft equals plain decoding).
///
/// bf16 segments, more than 8 rows, head_dim in multiples of 32, on a processor
/// with AMX: q and the weights e^(s_j - lse) are rounded to bf16; sums and lse
/// stay f32. Everything else is f32 throughout.
///
/// Stale keys may hold anything. A NaN or infinity in q shows in its row alone;
/// one in a key or value shows in the rows that see it and may show in others
/// of the call.
///
/// Supports head_dim 16..256 in multiples of 16 and fewer than 2^31 keys;
/// throws std::logic_error for another shape, a fault of the caller.
void attend(const attention_params& params);

/// Merges partial (o_b, lse_b) into (o_a, lse_a), in place:
/// lse = log(e^a + e^b), o = e^(a - lse) o_a + e^(b - lse) o_b.
/// [n_rows, n_q_heads, head_dim] and [n_rows, n_q_heads], dense.
void merge_partials(std::int64_t n_rows, std::int64_t n_q_heads,
                    std::int64_t head_dim, float* o_a, float* lse_a,
                    const float* o_b, const float* lse_b);

} // namespace kvloom::kernels
