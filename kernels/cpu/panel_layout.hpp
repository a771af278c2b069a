// How block-quantised rows lie in memory for products: panels of 16 rows.
//
// A panel holds 16 output rows, one a SIMD lane; the last panel of a part is
// filled up with zeros (scale 0). Its columns are cut into runs of 32, which
// is also the block of the int8 activations. A panel is three regions, each a
// stream in the order of the columns, the panel filled up to 64 bytes:
//
//   quants  [runs][quant_bytes]     the integers, stored without sign
//   scales  [runs][scale_bytes]     what changes with every run
//   supers  [runs / 8][super_bytes] what changes every 256 columns (K types)
//
// A "group" is 4 neighbouring columns: 64 bytes [16 rows][4 columns], the
// operand of one VNNI instruction. A run has groups 0..7.
//
//   q8_0  quants 512: groups 0..7 of bytes q + 128
//         scales  32: f16 d[16]
//   q4_0  quants 256: 64 bytes k = 0..3 hold group 2k in the low and group
//         2k + 1 in the high nibbles, q as in the file (value d (q - 8))
//         scales  32: f16 d[16]
//   q4_1  quants 256: as q4_0
//         scales  64: f16 d[16], f16 m[16]
//   q4_k  quants 256: as q4_0
//         scales  32: u8 scale[16], u8 minimum[16]
//         supers  64: f16 d[16], f16 dmin[16]
//   q6_k  quants 384: the low 4 bits as q4_0, then the high 2 bits: 64 bytes
//         h = 0, 1 hold group 4h + j in bits 2j and 2j + 1
//         scales  32: i8 scale[16] of columns 0..15, i8 scale[16] of 16..31
//         supers  32: f16 d[16]
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstddef>
#include <cstdint>

namespace kvloom::kernels {

constexpr std::int64_t panel_rows = 16;
constexpr std::int64_t run_columns = 32;

/// Where things lie in a panel. Bytes.
struct panel_layout {
  std::int64_t n_runs = 0;
  std::int64_t quant_bytes = 0, scale_bytes = 0, super_bytes = 0; ///< strides
  std::int64_t scales_at = 0, supers_at = 0; ///< from the start of the panel
  std::int64_t panel_bytes = 0;
};

/// Layout of `type` (block-quantised) with `columns` columns (whole blocks).
panel_layout layout_of(dtype type, std::int64_t columns);

/// Packs `n_rows` (1..16) rows as they lie in a file into one panel.
void pack_panel(dtype type, const panel_layout& layout, std::int64_t n_rows,
                const std::byte* rows, std::byte* panel);

/// The inverse for row `lane` of the panel: row_bytes() bytes as in the file.
void unpack_row(dtype type, const panel_layout& layout, const std::byte* panel,
                std::int64_t lane, std::byte* row);

} // namespace kvloom::kernels
