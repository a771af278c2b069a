#include "engine/model/projection.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kvloom::engine {

namespace {

using kernels::weight_matrix;

void product_of(product how, const weight_matrix& w, std::int64_t n_rows,
                const float* x, float* y) {
  if (how == product::few)
    kernels::multiply_few(w, n_rows, x, y);
  else
    kernels::multiply_many(w, n_rows, x, y);
}

} // namespace

result<projection>
projection::make(std::initializer_list<const weight_view*> parts,
                 weight_matrix::form plain, bool keep_quantised) {
  const std::vector<const weight_view*> all(parts);
  const auto stored = [keep_quantised](const weight_view* part) {
    return keep_quantised && is_quantised(part->type);
  };
  projection made;
  for (std::size_t first = 0; first < all.size();) {
    // A run: parts kept as stored with one block type, or plain parts.
    std::size_t last = first;
    std::vector<kernels::matrix_source> run;
    const bool as_stored = stored(all[first]);
    while (last < all.size() && stored(all[last]) == as_stored
           && (!as_stored || all[last]->type == all[first]->type)) {
      const weight_view& part = *all[last++];
      run.push_back({part.type, part.bytes, part.rows(), part.columns()});
    }
    auto matrix = weight_matrix::make(
        run, as_stored ? weight_matrix::form::as_stored : plain);
    if (!matrix) {
      if (matrix.error().place.empty()) matrix.error().place = all[first]->name;
      return pass_on(matrix);
    }
    made.rows_ += matrix->rows();
    made.parts_.push_back(std::move(*matrix));
    first = last;
  }
  return made;
}

std::int64_t projection::bytes() const {
  std::int64_t sum = 0;
  for (const weight_matrix& part : parts_) sum += part.bytes();
  return sum;
}

void projection::multiply(product how, std::int64_t n_rows, const float* x,
                          float* y, std::vector<float>& scratch) const {
  if (parts_.size() == 1) return product_of(how, parts_[0], n_rows, x, y);
  std::int64_t at = 0;
  for (const weight_matrix& part : parts_) {
    const std::int64_t width = part.rows();
    if (n_rows == 1) {
      product_of(how, part, 1, x, y + at);
    } else {
      scratch.resize(static_cast<std::size_t>(n_rows * width));
      product_of(how, part, n_rows, x, scratch.data());
      for (std::int64_t r = 0; r < n_rows; ++r)
        std::copy_n(scratch.data() + r * width, width, y + r * rows_ + at);
    }
    at += width;
  }
}

} // namespace kvloom::engine
