// Attention of rows over a list of KV segments, each at its own shift.
#pragma once

#include "kernels/api/attention.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::engine {

/// A segment and how far its keys lie from where they were rotated: key j was
/// rotated at position p_j - shift, p_j being its absolute position.
struct placed_segment {
  kernels::kv_segment_view keys;
  std::int64_t shift = 0;
};

/// The rotation of a model, as kernels::rotate takes it.
struct rotation {
  std::vector<double> inverse_frequencies; ///< [head_dim / 2]
  double magnitude = 1;
};

/// Buffers of attend_segments, kept between calls.
struct segment_scratch {
  std::vector<placed_segment> segments; ///< for the caller's use
  std::vector<float> q;                 ///< [n_rows, n_q_heads, head_dim]
  std::vector<float> o;                 ///< [n_rows, n_q_heads, head_dim]
  std::vector<float> lse;               ///< [n_rows, n_q_heads]
  std::vector<std::int64_t> back;       ///< [n_rows]
};

/// Attention over all segments: `rows` says everything but the segment, its q
/// is rotated at row_positions. A shifted segment meets the queries rotated
/// back by its shift, R(m - shift) q; partial results merge by log-sum-exp.
/// One unshifted segment is one call of kernels::attend and no merge.
void attend_segments(const kernels::attention_params& rows,
                     std::span<const placed_segment> segments,
                     const rotation& turn, segment_scratch& scratch);

/// How much of the rows' attention the keys of one segment get
/// (kernels/api/attention_mass.hpp); rows.lse is that over all segments. Adds
/// to mass [n_keys].
void add_mass(const kernels::attention_params& rows,
              const placed_segment& segment, const rotation& turn,
              segment_scratch& scratch, double* mass);

} // namespace kvloom::engine
