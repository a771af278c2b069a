#include "kernels/cpu/weight_matrix.hpp"

#include "core/tensor/float_bits.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace kvloom::kernels {

namespace {

// Values that one task converts, at least.
constexpr std::int64_t values_a_task = 1 << 16;

tl::unexpected<error> no_memory(std::int64_t bytes) {
  return fail(
      errc::environment,
      "no memory for a weight matrix of " + std::to_string(bytes)
          + " bytes; use a smaller model or a machine with more memory");
}

/// What is wrong with part `i`; empty if nothing.
std::string fault_of(const matrix_source& part, std::size_t i,
                     std::int64_t columns, weight_matrix::form as) {
  const std::string head = "weight matrix part " + std::to_string(i) + " ("
                           + to_string(part.type) + ", "
                           + std::to_string(part.rows) + " x "
                           + std::to_string(part.columns) + ") ";
  if (part.rows < 0 || part.columns < 0)
    return head + "has a negative size; give sizes of at least 0";
  if (part.columns != columns)
    return head + "cannot be stacked on parts of " + std::to_string(columns)
           + " columns; stack parts of equal columns";
  if (part.columns % block_values(part.type) != 0)
    return head + "has rows that are not whole blocks of "
           + std::to_string(block_values(part.type))
           + " values; the file is damaged or of another layout";
  // 4 bytes a value bounds every form.
  if (part.columns > 0
      && part.rows
             > std::numeric_limits<std::int64_t>::max() / 8 / part.columns)
    return head + "is larger than any memory; the file is damaged";
  if (part.bytes == nullptr && part.rows > 0 && part.columns > 0)
    return head + "has no bytes; give the address of its first row";
  if (as == weight_matrix::form::as_stored && !is_quantised(part.type))
    return head
           + "cannot be kept as stored, since it is not quantised; use the "
             "form f32 or bf16";
  return {};
}

std::int64_t rows_a_task(std::int64_t columns) {
  return std::max<std::int64_t>(1, values_a_task
                                       / std::max<std::int64_t>(1, columns));
}

/// Rows [begin, end) of the part to `out`, the place of row 0.
void widen_rows(const matrix_source& part, std::int64_t begin, std::int64_t end,
                std::byte* out) {
  const std::int64_t stride = row_bytes(part.type, part.columns);
  for (std::int64_t r = begin; r < end; ++r)
    dequantise_row(part.type, part.bytes + r * stride, part.columns,
                   reinterpret_cast<float*>(out) + r * part.columns);
}

void round_rows(const matrix_source& part, std::int64_t begin, std::int64_t end,
                std::byte* out) {
  const std::int64_t stride = row_bytes(part.type, part.columns);
  std::vector<float> wide(static_cast<std::size_t>(part.columns));
  for (std::int64_t r = begin; r < end; ++r) {
    dequantise_row(part.type, part.bytes + r * stride, part.columns,
                   wide.data());
    auto* row = reinterpret_cast<std::uint16_t*>(out) + r * part.columns;
    for (std::int64_t c = 0; c < part.columns; ++c)
      row[c] = f32_to_bf16(wide[static_cast<std::size_t>(c)]);
  }
}

/// Converts the part to f32 or bf16 at `out`.
void fill_dense(const matrix_source& part, weight_matrix::form as,
                std::byte* out) {
  const bool wide = as == weight_matrix::form::f32;
  const dtype wanted = wide ? dtype::f32 : dtype::bf16;
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, part.rows, rows_a_task(part.columns)),
      [&](const tbb::blocked_range<std::int64_t>& range) {
        if (part.type == wanted) {
          const std::int64_t stride = row_bytes(part.type, part.columns);
          std::copy_n(part.bytes + range.begin() * stride,
                      (range.end() - range.begin()) * stride,
                      out + range.begin() * stride);
        } else if (wide) {
          widen_rows(part, range.begin(), range.end(), out);
        } else {
          round_rows(part, range.begin(), range.end(), out);
        }
      });
}

void fill_panels(const matrix_source& source, stored_part& part) {
  const std::int64_t stride = row_bytes(source.type, source.columns);
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(
          0, part.n_panels(), rows_a_task(source.columns * panel_rows)),
      [&](const tbb::blocked_range<std::int64_t>& range) {
        for (std::int64_t p = range.begin(); p < range.end(); ++p) {
          const std::int64_t row = p * panel_rows;
          pack_panel(part.type, part.layout,
                     std::min(panel_rows, part.n_rows - row),
                     source.bytes + row * stride,
                     part.panels.get() + p * part.layout.panel_bytes);
        }
      });
}

result<void> keep_stored(std::span<const matrix_source> sources,
                         weight_matrix::state& to) {
  for (const matrix_source& source : sources) {
    stored_part part;
    part.type = source.type;
    part.layout = layout_of(source.type, source.columns);
    part.first_row = to.rows;
    part.n_rows = source.rows;
    const std::int64_t bytes = part.n_panels() * part.layout.panel_bytes;
    part.panels = allocate_pages(static_cast<std::size_t>(bytes));
    if (part.panels == nullptr) return no_memory(bytes);
    fill_panels(source, part);
    to.rows += source.rows;
    to.bytes += bytes;
    to.parts.push_back(std::move(part));
  }
  return {};
}

result<void> convert(std::span<const matrix_source> sources,
                     weight_matrix::state& to) {
  const std::int64_t size = to.kind == weight_matrix::form::f32 ? 4 : 2;
  std::int64_t rows = 0;
  for (const matrix_source& source : sources) rows += source.rows;
  to.bytes = rows * to.columns * size;
  to.dense = allocate_pages(static_cast<std::size_t>(to.bytes));
  if (to.dense == nullptr) return no_memory(to.bytes);
  for (const matrix_source& source : sources) {
    fill_dense(source, to.kind, to.dense.get() + to.rows * to.columns * size);
    to.rows += source.rows;
  }
  return {};
}

} // namespace

result<weight_matrix> weight_matrix::make(std::span<const matrix_source> parts,
                                          form as) {
  const std::int64_t columns = parts.empty() ? 0 : parts.front().columns;
  std::int64_t values = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string fault = fault_of(parts[i], i, columns, as);
    if (fault.empty()
        && __builtin_add_overflow(values, parts[i].rows * columns * 8, &values))
      fault = "the parts of a weight matrix are together larger than any "
              "memory; the file is damaged";
    if (!fault.empty()) return fail(errc::bad_input, std::move(fault));
  }
  try {
    weight_matrix made;
    made.state_->kind = as;
    made.state_->columns = columns;
    auto filled = as == form::as_stored ? keep_stored(parts, *made.state_)
                                        : convert(parts, *made.state_);
    if (!filled) return pass_on(filled);
    return made;
  } catch (const std::bad_alloc&) {
    return no_memory(values / 8);
  }
}

weight_matrix::weight_matrix() : state_(std::make_unique<state>()) {}

weight_matrix::~weight_matrix() = default;
weight_matrix::weight_matrix(weight_matrix&&) noexcept = default;
weight_matrix& weight_matrix::operator=(weight_matrix&&) noexcept = default;

const weight_matrix::state& weight_matrix::inner() const {
  static const state empty;
  return state_ == nullptr ? empty : *state_;
}

weight_matrix::form weight_matrix::kind() const {
  return inner().kind;
}

std::int64_t weight_matrix::rows() const {
  return inner().rows;
}

std::int64_t weight_matrix::columns() const {
  return inner().columns;
}

std::int64_t weight_matrix::bytes() const {
  return inner().bytes;
}

const void* weight_matrix::dense() const {
  return inner().dense.get();
}

void weight_matrix::row(std::int64_t r, float* out) const {
  const state& s = inner();
  if (s.kind != form::as_stored) {
    const dtype type = s.kind == form::f32 ? dtype::f32 : dtype::bf16;
    dequantise_row(type, s.dense.get() + r * row_bytes(type, s.columns),
                   s.columns, out);
    return;
  }
  const auto part
      = std::prev(std::upper_bound(s.parts.begin(), s.parts.end(), r,
                                   [](std::int64_t row, const stored_part& p) {
                                     return row < p.first_row;
                                   }));
  const std::int64_t at = r - part->first_row;
  std::vector<std::byte> stored(
      static_cast<std::size_t>(row_bytes(part->type, s.columns)));
  unpack_row(part->type, part->layout,
             part->panels.get() + at / panel_rows * part->layout.panel_bytes,
             at % panel_rows, stored.data());
  dequantise_row(part->type, stored.data(), s.columns, out);
}

} // namespace kvloom::kernels
