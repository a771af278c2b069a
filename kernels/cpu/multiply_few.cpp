#include "core/tensor/float_bits.hpp"
#include "kernels/cpu/linear_kernels.hpp"
#include "kernels/cpu/weight_matrix.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace kvloom::kernels {

namespace {

// Bytes of weights that are worth a task of their own: a few microseconds.
constexpr std::int64_t bytes_a_task = 1 << 16;
// Activations that one task rounds.
constexpr std::int64_t values_a_task = 1 << 15;

/// Body(begin, end) over [0, n), in tasks of at least `grain`. Isolated: a
/// thread that waits for the end takes up no unrelated work, which may be long.
template <class Body>
void each_range(std::int64_t n, std::int64_t grain, const Body& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, grain),
                      [&](const tbb::blocked_range<std::int64_t>& range) {
                        body(range.begin(), range.end());
                      });
  });
}

std::int64_t at_least_one(std::int64_t n) {
  return std::max<std::int64_t>(1, n);
}

/// Panels [begin, end) of the part times all rows.
void multiply_panels(const linear_kernels& kernels, const stored_part& part,
                     std::int64_t begin, std::int64_t end, const int8_rows& x,
                     std::int64_t y_stride, float* y) {
  const std::int64_t first = begin * panel_rows;
  const std::int64_t last = std::min(end * panel_rows, part.n_rows);
  kernels.multiply_panels({part.type, part.layout,
                           part.panels.get() + begin * part.layout.panel_bytes,
                           last - first, x, y + part.first_row + first,
                           y_stride});
}

void multiply_stored(const weight_matrix::state& w, std::int64_t n_rows,
                     const float* x, float* y) {
  const linear_kernels& kernels = active_linear_kernels();
  const std::int64_t n_runs = w.columns / run_columns;
  const auto total = static_cast<std::size_t>(n_rows * n_runs);
  // Not cleared: every value is written below.
  const auto values
      = std::make_unique_for_overwrite<std::int8_t[]>(total * run_columns);
  const auto scales = std::make_unique_for_overwrite<float[]>(total);
  const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(total * 2);
  each_range(n_rows * n_runs, values_a_task / run_columns,
             [&](std::int64_t begin, std::int64_t end) {
               kernels.round_to_int8(end - begin, x + begin * run_columns,
                                     values.get() + begin * run_columns,
                                     scales.get() + begin,
                                     sums.get() + 2 * begin);
             });
  const int8_rows rows{n_rows, n_runs, values.get(), scales.get(), sums.get()};
  // One range over the panels of all parts.
  std::int64_t n_panels = 0;
  for (const stored_part& part : w.parts) n_panels += part.n_panels();
  each_range(n_panels,
             at_least_one(bytes_a_task / at_least_one(w.bytes / n_panels)),
             [&](std::int64_t begin, std::int64_t end) {
               for (const stored_part& part : w.parts) {
                 const std::int64_t here = std::min(end, part.n_panels());
                 if (begin < here)
                   multiply_panels(kernels, part, begin, here, rows, w.rows, y);
                 begin = std::max<std::int64_t>(0, begin - part.n_panels());
                 end -= part.n_panels();
                 if (end <= 0) return;
               }
             });
}

void multiply_dense(const weight_matrix::state& w, std::int64_t n_rows,
                    const float* x, float* y) {
  const linear_kernels& kernels = active_linear_kernels();
  const bool wide = w.kind == weight_matrix::form::f32;
  std::vector<std::uint16_t> rounded;
  if (!wide) {
    rounded.resize(static_cast<std::size_t>(n_rows * w.columns));
    each_range(n_rows * w.columns, values_a_task,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   rounded[static_cast<std::size_t>(i)] = f32_to_bf16(x[i]);
               });
  }
  const void* input = wide ? static_cast<const void*>(x) : rounded.data();
  const auto multiply = wide ? kernels.multiply_f32 : kernels.multiply_bf16;
  const std::int64_t stride = w.columns * (wide ? 4 : 2);
  each_range(w.rows, at_least_one(bytes_a_task / stride / 4) * 4,
             [&](std::int64_t begin, std::int64_t end) {
               multiply({w.dense.get() + begin * stride, end - begin, w.columns,
                         input, n_rows, y + begin, w.rows});
             });
}

} // namespace

void multiply_few(const weight_matrix& w, std::int64_t n_rows, const float* x,
                  float* y) {
  const weight_matrix::state& state = w.inner();
  if (n_rows <= 0 || state.rows == 0) return;
  if (state.columns == 0) {
    std::fill_n(y, n_rows * state.rows, 0.0F);
    return;
  }
  if (state.kind == weight_matrix::form::as_stored)
    multiply_stored(state, n_rows, x, y);
  else
    multiply_dense(state, n_rows, x, y);
}

} // namespace kvloom::kernels
