// Weight matrices that share an input, stacked along their outputs.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/checkpoint.hpp"
#include "kernels/api/linear.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace kvloom::engine {

/// Which product of kernels/api/linear.hpp to use.
enum class product : std::uint8_t {
  few, ///< rows independent of one another, bit for bit
  many ///< tiles over the rows
};

/// y = x [A; B; ...]^T. One matrix where the parts have one form; a quantised
/// checkpoint may give q and v different block types, and then each run of
/// equal types is a matrix of its own. Immutable.
class projection {
public:
  /// `plain` is the form of parts that are not kept as stored.
  /// Errors: those of weight_matrix::make, with the tensor's name as place.
  static result<projection>
  make(std::initializer_list<const weight_view*> parts,
       kernels::weight_matrix::form plain, bool keep_quantised);

  std::int64_t rows() const { return rows_; }
  std::int64_t bytes() const;

  /// x [n_rows, columns], y [n_rows, rows()], dense. `scratch` is used only
  /// where there are several matrices.
  void multiply(product how, std::int64_t n_rows, const float* x, float* y,
                std::vector<float>& scratch) const;

  /// Row `r` widened to f32. [columns]
  void row(std::int64_t r, float* out) const { parts_.front().row(r, out); }

private:
  std::vector<kernels::weight_matrix> parts_;
  std::int64_t rows_ = 0;
};

} // namespace kvloom::engine
