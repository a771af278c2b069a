// The inner loops of multiply_few(), one set for each instruction set.
//
// The files *_avx2.cpp and *_avx512.cpp are compiled for processors that the
// program may not run on. They must not use inline functions of other headers:
// the linker could pick their copy for everybody.
#pragma once

#include "core/tensor/dtype.hpp"
#include "kernels/cpu/panel_layout.hpp"

#include <cstddef>
#include <cstdint>

namespace kvloom::kernels {

/// Activations rounded to int8 by runs of 32 columns.
struct int8_rows {
  std::int64_t n_rows = 0, n_runs = 0;
  const std::int8_t* values = nullptr; ///< [n_rows, n_runs, 32], -127..127
  const float* scales = nullptr;       ///< [n_rows, n_runs]
  /// Sums of the first and the last 16 values. [n_rows, n_runs, 2]
  const std::int32_t* sums = nullptr;
};

/// Neighbouring panels of one part times all activation rows.
struct panel_product {
  dtype type = dtype::q8_0;
  panel_layout layout;
  const std::byte* panels = nullptr; ///< the first of them
  std::int64_t n_outputs = 0; ///< rows in the panels, filling not counted
  int8_rows x;
  float* y = nullptr;        ///< output 0 of these panels, activation row 0
  std::int64_t y_stride = 0; ///< floats from activation row to row
};

/// Neighbouring rows of a plain matrix times all activation rows. w and x are
/// both f32 or both bf16.
struct dense_product {
  const void* w = nullptr; ///< [n_outputs, columns]
  std::int64_t n_outputs = 0, columns = 0;
  const void* x = nullptr; ///< [n_rows, columns]
  std::int64_t n_rows = 0;
  float* y = nullptr;        ///< output 0 of these, activation row 0
  std::int64_t y_stride = 0; ///< floats from activation row to row
};

/// A block with max|x| below this counts as zero: 127 / max would overflow.
constexpr float smallest_int8_max = 0x1p-100F;

/// In every function the arithmetic of one output value is the same for any
/// n_rows and any cut of the outputs.
struct linear_kernels {
  /// x [n_runs, 32] to values, scales [n_runs] and sums [n_runs, 2]; see
  /// multiply_few().
  void (*round_to_int8)(std::int64_t n_runs, const float* x,
                        std::int8_t* values, float* scales, std::int32_t* sums);
  void (*multiply_panels)(const panel_product& product);
  void (*multiply_f32)(const dense_product& product);
  void (*multiply_bf16)(const dense_product& product);
};

/// Those of active_path().
const linear_kernels& active_linear_kernels();

namespace portable {
void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums);
void multiply_panels(const panel_product& product);
void multiply_f32(const dense_product& product);
void multiply_bf16(const dense_product& product);
} // namespace portable

namespace avx2 {
void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums);
void multiply_panels(const panel_product& product);
void multiply_f32(const dense_product& product);
void multiply_bf16(const dense_product& product);
} // namespace avx2

namespace avx512 {
void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums);
void multiply_panels(const panel_product& product);
void multiply_f32(const dense_product& product);
void multiply_bf16(const dense_product& product);
} // namespace avx512

} // namespace kvloom::kernels
