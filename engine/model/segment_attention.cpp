#include "engine/model/segment_attention.hpp"

#include "kernels/api/attention_mass.hpp"
#include "kernels/api/elementwise.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kvloom::engine {

namespace {

/// Queries as the segment's keys expect them: [n_rows, n_q_heads, head_dim],
/// dense, rotated back by `shift`. The magnitude is in q already.
const float* rotated_back(const kernels::attention_params& rows,
                          std::int64_t shift, const rotation& turn,
                          segment_scratch& scratch) {
  const std::int64_t width = rows.n_q_heads * rows.head_dim;
  scratch.q.resize(static_cast<std::size_t>(rows.n_rows * width));
  scratch.back.assign(static_cast<std::size_t>(rows.n_rows), -shift);
  for (std::int64_t r = 0; r < rows.n_rows; ++r)
    std::copy_n(rows.q + r * rows.q_row_stride, width,
                scratch.q.data() + r * width);
  kernels::rotate(rows.n_rows, rows.n_q_heads, rows.head_dim, scratch.q.data(),
                  width, scratch.back.data(), turn.inverse_frequencies);
  return scratch.q.data();
}

} // namespace

void attend_segments(const kernels::attention_params& rows,
                     std::span<const placed_segment> segments,
                     const rotation& turn, segment_scratch& scratch) {
  const std::int64_t width = rows.n_q_heads * rows.head_dim;
  if (segments.empty()) {
    std::fill_n(rows.o, rows.n_rows * width, 0.0F);
    std::fill_n(rows.lse, rows.n_rows * rows.n_q_heads,
                -std::numeric_limits<float>::infinity());
    return;
  }
  bool first = true;
  for (const placed_segment& segment : segments) {
    kernels::attention_params part = rows;
    part.segment = segment.keys;
    if (segment.shift != 0) {
      part.q = rotated_back(rows, segment.shift, turn, scratch);
      part.q_row_stride = width;
    }
    if (!first) {
      scratch.o.resize(static_cast<std::size_t>(rows.n_rows * width));
      scratch.lse.resize(
          static_cast<std::size_t>(rows.n_rows * rows.n_q_heads));
      part.o = scratch.o.data();
      part.lse = scratch.lse.data();
    }
    kernels::attend(part);
    if (!first)
      kernels::merge_partials(rows.n_rows, rows.n_q_heads, rows.head_dim,
                              rows.o, rows.lse, part.o, part.lse);
    first = false;
  }
}

void add_mass(const kernels::attention_params& rows,
              const placed_segment& segment, const rotation& turn,
              segment_scratch& scratch, double* mass) {
  kernels::attention_params part = rows;
  part.segment = segment.keys;
  if (segment.shift != 0) {
    part.q = rotated_back(rows, segment.shift, turn, scratch);
    part.q_row_stride = rows.n_q_heads * rows.head_dim;
  }
  kernels::attention_mass(part, mass);
}

} // namespace kvloom::engine
