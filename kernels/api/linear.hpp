// Products with weight matrices: y = x W^T.
#pragma once

#include "core/base/result.hpp"
#include "core/tensor/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvloom::kernels {

/// Rows of a weight matrix as they lie in a file: [rows, columns],
/// row_bytes(type, columns) bytes a row.
struct matrix_source {
  dtype type = dtype::f32;
  const std::byte* bytes = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Values of one block-quantised or plain row, widened to f32, exactly the
/// values that the format defines (ggml-quants reference). columns must be
/// whole blocks.
void dequantise_row(dtype type, const std::byte* row, std::int64_t columns,
                    float* out);

/// A weight matrix prepared for products. Owns its bytes. Immutable; products
/// with it may run on several threads. A default-constructed or moved-from one
/// is empty: f32, 0 rows, 0 columns.
class weight_matrix {
public:
  enum class form : std::uint8_t {
    f32,      ///< widened
    bf16,     ///< rounded to bf16
    as_stored ///< blocks as in the file; few-row products only
  };

  /// Stacks `parts` along the rows (they share `columns`; types may differ).
  /// Copies or converts, so the sources may go away. A part that already has
  /// the wanted plain type is copied bit for bit.
  /// Errors: bad_input when as_stored is asked of plain types, a row is not
  /// whole blocks or the parts differ in columns; environment when memory is
  /// short. Converts on the caller's TBB arena.
  static result<weight_matrix> make(std::span<const matrix_source> parts,
                                    form as);

  weight_matrix();
  ~weight_matrix();
  weight_matrix(weight_matrix&&) noexcept;
  weight_matrix& operator=(weight_matrix&&) noexcept;

  form kind() const;
  std::int64_t rows() const;    ///< outputs
  std::int64_t columns() const; ///< inputs
  std::int64_t bytes() const;   ///< memory held, padding included

  /// Row `r` widened to f32 (embedding look-up), 0 <= r < rows(). [columns]
  /// For as_stored exactly the values of dequantise_row().
  void row(std::int64_t r, float* out) const;

  /// The elements of the forms f32 and bf16, [rows, columns], dense, aligned
  /// to 64 bytes; null for as_stored. Owned by the matrix.
  const void* dense() const;

  struct state;
  const state& inner() const;

private:
  std::unique_ptr<state> state_;
};

/// Few rows: every output row depends on its input row only, bit for bit the
/// same for any n_rows and any number of threads. x [n_rows, columns],
/// y [n_rows, rows], dense f32. For `as_stored` activations are rounded to
/// int8 by blocks of 32 (scale = max|x| / 127, ties to even; a block whose
/// max|x| is below 2^-100 counts as zero, one with a NaN or an infinity makes
/// its whole output row NaN); for bf16 to bf16; sums in f32. Runs on the
/// caller's TBB arena. y must not overlap x.
void multiply_few(const weight_matrix& w, std::int64_t n_rows, const float* x,
                  float* y);

/// Many rows, through libtorch (oneDNN): forms f32 and bf16. bf16: x is
/// rounded to bf16, sums in f32, y is rounded to bf16 and widened. Fixed tiles,
/// so that the bits do not depend on the number of threads; they may depend on
/// n_rows. Runs on the caller's TBB arena; libtorch is told to use one thread.
/// Throws std::logic_error for an as_stored matrix (keep a bf16 copy for
/// prefill) and for null pointers or a negative n_rows: faults of the caller.
/// Implemented in kernels/torch.
void multiply_many(const weight_matrix& w, std::int64_t n_rows, const float* x,
                   float* y);

} // namespace kvloom::kernels
