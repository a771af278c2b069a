// What a weight_matrix holds.
#pragma once

#include "core/tensor/dtype.hpp"
#include "kernels/api/linear.hpp"
#include "kernels/cpu/page_buffer.hpp"
#include "kernels/cpu/panel_layout.hpp"

#include <cstdint>
#include <vector>

namespace kvloom::kernels {

/// Rows of one block type, packed into panels.
struct stored_part {
  dtype type = dtype::q8_0;
  panel_layout layout;
  std::int64_t first_row = 0, n_rows = 0;
  page_buffer panels; ///< n_panels() of layout.panel_bytes

  std::int64_t n_panels() const {
    return (n_rows + panel_rows - 1) / panel_rows;
  }
};

struct weight_matrix::state {
  form kind = form::f32;
  std::int64_t rows = 0, columns = 0, bytes = 0;
  page_buffer dense;              ///< [rows, columns], f32 and bf16 only
  std::vector<stored_part> parts; ///< as_stored only, by first_row
};

} // namespace kvloom::kernels
