#include "kernels/api/elementwise.hpp"
#include "kernels/api/linear.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>
#include <tbb/cache_aligned_allocator.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace kvloom::kernels {

namespace {

// Sizes at which oneDNN comes close to its best rate on one core: it packs the
// weights of a tile anew, so a tile should have many rows. A tile of the output
// in bf16 fits into the second-level cache.
constexpr std::int64_t most_rows = 512;
constexpr std::int64_t most_outputs = 768;
constexpr std::int64_t fewest_rows = 128;
constexpr std::int64_t fewest_outputs = 96;
// Small products are cut into up to this many tiles, for the sake of machines
// with many cores, ...
constexpr std::int64_t wanted_tiles = 32;
// ... of at least this many values, where packing the weights counts as much
// as this many rows.
constexpr std::int64_t values_a_tile = 1 << 16;
constexpr std::int64_t packing_rows = 64;
// Tiles of bf16 have rows in multiples of this, filled up with zeros: oneDNN
// generates code for every new shape, and tile registers have 16 rows.
constexpr std::int64_t row_step = 32;
constexpr std::int64_t output_step = 64;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

constexpr std::int64_t round_up(std::int64_t a, std::int64_t step) {
  return divide_up(a, step) * step;
}

/// The cut of a product; a function of its shape alone.
struct tiling {
  std::int64_t rows = 0, outputs = 0;     ///< of one tile
  std::int64_t n_rows = 0, n_outputs = 0; ///< tiles
};

tiling cut(std::int64_t rows, std::int64_t outputs) {
  std::int64_t down = divide_up(rows, most_rows);
  std::int64_t across = divide_up(outputs, most_outputs);
  const std::int64_t wanted
      = std::min(wanted_tiles, outputs * (rows + packing_rows) / values_a_tile);
  while (down * across < wanted) {
    if (outputs / across >= 2 * fewest_outputs)
      across *= 2;
    else if (rows / down >= 2 * fewest_rows)
      down *= 2;
    else
      break;
  }
  tiling t;
  t.rows = round_up(divide_up(rows, down), row_step);
  t.outputs = round_up(divide_up(outputs, across), output_step);
  t.n_rows = divide_up(rows, t.rows);
  t.n_outputs = divide_up(outputs, t.outputs);
  return t;
}

template <class T>
using aligned_vector = std::vector<T, tbb::cache_aligned_allocator<T>>;

/// n values that nobody has written yet.
template <class T>
class uninitialised {
public:
  explicit uninitialised(std::int64_t n)
      : n_(static_cast<std::size_t>(n)), data_(allocator_.allocate(n_)) {}
  ~uninitialised() { allocator_.deallocate(data_, n_); }
  uninitialised(const uninitialised&) = delete;
  uninitialised& operator=(const uninitialised&) = delete;

  T* data() const { return data_; }

private:
  tbb::cache_aligned_allocator<T> allocator_;
  std::size_t n_;
  T* data_;
};

/// libtorch keeps its number of threads for every thread.
void use_one_thread() {
  thread_local const bool done = [] {
    at::set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

/// Body(i) for i in [0, n) on the caller's arena, ready for libtorch.
/// Isolated: a thread that waits takes up no unrelated work.
template <class Body>
void each_tile(std::int64_t n, const Body& body) {
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::int64_t{0}, n, [&](std::int64_t i) {
      use_one_thread();
      const c10::InferenceMode no_grad;
      body(i);
    });
  });
}

at::Tensor view(const void* data, std::int64_t rows, std::int64_t columns,
                std::int64_t stride, at::ScalarType type) {
  // ATen has no view of constant data; the operands are only read.
  return at::from_blob(const_cast<void*>(data), {rows, columns}, {stride, 1},
                       at::TensorOptions().dtype(type));
}

/// The first `n` elements of a buffer of this thread.
std::uint16_t* output_buffer(std::int64_t n) {
  thread_local aligned_vector<std::uint16_t> buffer;
  if (static_cast<std::int64_t>(buffer.size()) < n)
    buffer.resize(static_cast<std::size_t>(n));
  return buffer.data();
}

void multiply_bf16(const weight_matrix& w, std::int64_t n_rows, const float* x,
                   float* y) {
  const std::int64_t columns = w.columns();
  const tiling t = cut(n_rows, w.rows());
  // Not cleared but for the rows that fill up the last tile.
  const std::int64_t padded_rows = t.n_rows * t.rows;
  const uninitialised<std::uint16_t> rounded(padded_rows * columns);
  narrow(n_rows * columns, x, dtype::bf16, rounded.data());
  std::fill_n(rounded.data() + n_rows * columns,
              (padded_rows - n_rows) * columns, std::uint16_t{0});
  const auto* weights = static_cast<const std::uint16_t*>(w.dense());
  each_tile(t.n_rows * t.n_outputs, [&](std::int64_t i) {
    const std::int64_t row = i / t.n_outputs * t.rows;
    const std::int64_t output = i % t.n_outputs * t.outputs;
    const std::int64_t rows = std::min(t.rows, n_rows - row);
    const std::int64_t padded = round_up(rows, row_step);
    const std::int64_t outputs = std::min(t.outputs, w.rows() - output);
    at::Tensor product = view(output_buffer(padded * outputs), padded, outputs,
                              outputs, at::kBFloat16);
    at::mm_out(product,
               view(rounded.data() + row * columns, padded, columns, columns,
                    at::kBFloat16),
               view(weights + output * columns, outputs, columns, columns,
                    at::kBFloat16)
                   .t());
    const auto* const bits
        = static_cast<const std::uint16_t*>(product.const_data_ptr());
    for (std::int64_t r = 0; r < rows; ++r)
      widen(outputs, dtype::bf16, bits + r * outputs,
            y + (row + r) * w.rows() + output);
  });
}

void multiply_f32(const weight_matrix& w, std::int64_t n_rows, const float* x,
                  float* y) {
  const std::int64_t columns = w.columns();
  const tiling t = cut(n_rows, w.rows());
  // Aligned, so that the library has no reason to take another way.
  const aligned_vector<float> input(x, x + n_rows * columns);
  const auto* weights = static_cast<const float*>(w.dense());
  each_tile(t.n_rows * t.n_outputs, [&](std::int64_t i) {
    const std::int64_t row = i / t.n_outputs * t.rows;
    const std::int64_t output = i % t.n_outputs * t.outputs;
    const std::int64_t rows = std::min(t.rows, n_rows - row);
    const std::int64_t outputs = std::min(t.outputs, w.rows() - output);
    at::Tensor product = view(y + row * w.rows() + output, rows, outputs,
                              w.rows(), at::kFloat);
    at::mm_out(
        product,
        view(input.data() + row * columns, rows, columns, columns, at::kFloat),
        view(weights + output * columns, outputs, columns, columns, at::kFloat)
            .t());
  });
}

} // namespace

void multiply_many(const weight_matrix& w, std::int64_t n_rows, const float* x,
                   float* y) {
  if (w.kind() == weight_matrix::form::as_stored)
    throw std::logic_error("multiply_many: the matrix is kept as stored; give "
                           "one of the form f32 or bf16");
  if (n_rows < 0)
    throw std::logic_error("multiply_many: n_rows is negative; give 0 or more");
  if (n_rows == 0 || w.rows() == 0) return;
  if (y == nullptr || (x == nullptr && w.columns() > 0))
    throw std::logic_error("multiply_many: x or y is null; give n_rows rows");
  if (w.columns() == 0) {
    std::fill_n(y, n_rows * w.rows(), 0.0F);
    return;
  }
  if (w.kind() == weight_matrix::form::bf16) {
    multiply_bf16(w, n_rows, x, y);
    return;
  }
  static const bool exact = [] {
    // No tf32 and no bf16 behind the back of the form f32.
    at::globalContext().setFloat32MatmulPrecision("highest");
    return true;
  }();
  static_cast<void>(exact);
  multiply_f32(w, n_rows, x, y);
}

} // namespace kvloom::kernels
