#include "kernels/api/elementwise.hpp"

#include "kernels/api/cpu_features.hpp"
#include "kernels/cpu/elementwise_path.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

namespace kvloom::kernels {

namespace {

/// Floats worth a task of their own.
constexpr std::int64_t floats_a_task = 16384;

/// Calls body(begin, end) over [0, n), each item of `width` floats; items do
/// not depend on one another, so neither do their bits on the division.
template <class Body>
void for_items(std::int64_t n, std::int64_t width, const Body& body) {
  if (n <= 0) return;
  const std::int64_t grain = std::max<std::int64_t>(
      1, floats_a_task / std::max<std::int64_t>(1, width));
  if (n <= grain) {
    body(std::int64_t{0}, n);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, grain),
                    [&](const tbb::blocked_range<std::int64_t>& items) {
                      body(items.begin(), items.end());
                    });
}

} // namespace

elementwise_path active_elementwise() {
#if defined(__x86_64__)
  switch (active_path()) {
  case cpu_path::portable:
    return elementwise_portable();
  case cpu_path::avx2:
    return elementwise_avx2();
  case cpu_path::avx512:
  case cpu_path::amx:
    return elementwise_avx512();
  }
#endif
  return elementwise_portable();
}

void rms_norm(std::int64_t n_rows, std::int64_t width, const float* x,
              std::int64_t x_stride, const float* weight, float eps, float* y,
              std::int64_t y_stride) {
  const elementwise_path path = active_elementwise();
  for_items(n_rows, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      // Without a delta the row is only read.
      path.rms_norm_row(width, const_cast<float*>(x + r * x_stride), nullptr,
                        weight, eps, y + r * y_stride);
  });
}

void add_rms_norm(std::int64_t n_rows, std::int64_t width, float* residual,
                  const float* delta, const float* weight, float eps,
                  float* y) {
  const elementwise_path path = active_elementwise();
  for_items(n_rows, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      path.rms_norm_row(width, residual + r * width, delta + r * width, weight,
                        eps, y + r * width);
  });
}

void swiglu(std::int64_t n_rows, std::int64_t width, const float* gate,
            const float* up, std::int64_t in_stride, float* a) {
  const elementwise_path path = active_elementwise();
  for_items(n_rows, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      path.swiglu_row(width, gate + r * in_stride, up + r * in_stride,
                      a + r * width);
  });
}

void rotate(std::int64_t n_rows, std::int64_t n_heads, std::int64_t head_dim,
            float* heads, std::int64_t row_stride,
            const std::int64_t* positions, std::span<const double> inv_freq,
            double magnitude) {
  constexpr std::int64_t most_pairs = 512;
  const elementwise_path path = active_elementwise();
  const std::int64_t n_pairs = head_dim / 2;
  if (n_pairs > most_pairs || head_dim % 2 != 0)
    throw std::logic_error("rotate(): head_dim " + std::to_string(head_dim)
                           + "; wanted an even number of at most "
                           + std::to_string(2 * most_pairs));
  for_items(n_rows, n_heads * head_dim,
            [&](std::int64_t begin, std::int64_t end) {
              float cosines[most_pairs];
              float sines[most_pairs];
              std::int64_t known = 0;
              for (std::int64_t r = begin; r < end; ++r) {
                // Rows of one shift share their angles.
                if (r == begin || positions[r] != known)
                  path.angles(n_pairs, static_cast<double>(positions[r]),
                              inv_freq.data(), magnitude, cosines, sines);
                known = positions[r];
                path.rotate_row(n_heads, head_dim, heads + r * row_stride,
                                cosines, sines);
              }
            });
}

void narrow(std::int64_t n, const float* from, dtype type, void* to) {
  if (n <= 0) return;
  if (type == dtype::f32) {
    std::memmove(to, from, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const elementwise_path path = active_elementwise();
  auto* const out = static_cast<std::uint16_t*>(to);
  const auto convert = type == dtype::bf16 ? path.to_bf16 : path.to_f16;
  for_items(n, 1, [&](std::int64_t begin, std::int64_t end) {
    convert(end - begin, from + begin, out + begin);
  });
}

void widen(std::int64_t n, dtype type, const void* from, float* to) {
  if (n <= 0) return;
  if (type == dtype::f32) {
    std::memmove(to, from, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const elementwise_path path = active_elementwise();
  const auto* const in = static_cast<const std::uint16_t*>(from);
  const auto convert = type == dtype::bf16 ? path.from_bf16 : path.from_f16;
  for_items(n, 1, [&](std::int64_t begin, std::int64_t end) {
    convert(end - begin, in + begin, to + begin);
  });
}

} // namespace kvloom::kernels
