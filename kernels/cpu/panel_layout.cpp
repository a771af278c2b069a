#include "kernels/cpu/panel_layout.hpp"

#include <array>
#include <cstring>

namespace kvloom::kernels {

namespace {

std::uint8_t u8(std::byte b) {
  return std::to_integer<std::uint8_t>(b);
}

/// The stored integers (without sign) of one block of up to 256 values, in the
/// order of the columns.
using integers = std::array<std::uint8_t, 256>;

void read_nibbles_32(const std::byte* pairs, std::uint8_t* out) {
  for (int j = 0; j < 16; ++j) {
    out[j] = u8(pairs[j]) & 0xf;
    out[j + 16] = u8(pairs[j]) >> 4;
  }
}

void write_nibbles_32(const std::uint8_t* in, std::byte* pairs) {
  for (int j = 0; j < 16; ++j) pairs[j] = std::byte(in[j] | (in[j + 16] << 4));
}

void read_integers(dtype type, const std::byte* b, integers& out) {
  switch (type) {
  case dtype::q8_0:
    for (int j = 0; j < 32; ++j) out[j] = u8(b[2 + j]) ^ 0x80U;
    break;
  case dtype::q4_0:
    read_nibbles_32(b + 2, out.data());
    break;
  case dtype::q4_1:
    read_nibbles_32(b + 4, out.data());
    break;
  case dtype::q4_k:
    for (int j = 0; j < 256; ++j)
      out[j] = (u8(b[16 + j / 64 * 32 + j % 32]) >> (j / 32 % 2 * 4)) & 0xf;
    break;
  case dtype::q6_k:
    for (int j = 0; j < 256; ++j) {
      const int half = j / 128;
      const int run = j / 32 % 4;
      const int low = u8(b[half * 64 + run % 2 * 32 + j % 32]);
      const int high = u8(b[128 + half * 32 + j % 32]);
      out[j]
          = ((low >> (run / 2 * 4)) & 0xf) | (((high >> (run * 2)) & 3) << 4);
    }
    break;
  default:
    break;
  }
}

/// The inverse; b is zeroed.
void write_integers(dtype type, const integers& in, std::byte* b) {
  switch (type) {
  case dtype::q8_0:
    for (int j = 0; j < 32; ++j) b[2 + j] = std::byte(in[j] ^ 0x80U);
    break;
  case dtype::q4_0:
    write_nibbles_32(in.data(), b + 2);
    break;
  case dtype::q4_1:
    write_nibbles_32(in.data(), b + 4);
    break;
  case dtype::q4_k:
    for (int j = 0; j < 256; ++j)
      b[16 + j / 64 * 32 + j % 32] |= std::byte(in[j] << (j / 32 % 2 * 4));
    break;
  case dtype::q6_k:
    for (int j = 0; j < 256; ++j) {
      const int half = j / 128;
      const int run = j / 32 % 4;
      b[half * 64 + run % 2 * 32 + j % 32]
          |= std::byte((in[j] & 0xf) << (run / 2 * 4));
      b[128 + half * 32 + j % 32] |= std::byte((in[j] >> 4) << (run * 2));
    }
    break;
  default:
    break;
  }
}

/// Places of value `column` of a run in the quants of row `lane`.
struct place {
  std::int64_t byte;
  int shift;
};

place low_place(std::int64_t lane, int column) {
  const int group = column / 4;
  return {group / 2 * 64 + lane * 4 + column % 4, group % 2 * 4};
}

place high_place(std::int64_t lane, int column) {
  const int group = column / 4;
  return {256 + group / 4 * 64 + lane * 4 + column % 4, group % 4 * 2};
}

void put_run(dtype type, std::int64_t lane, const std::uint8_t* in,
             std::byte* quants) {
  for (int c = 0; c < run_columns; ++c) {
    if (type == dtype::q8_0) {
      quants[c / 4 * 64 + lane * 4 + c % 4] = std::byte(in[c]);
      continue;
    }
    const place low = low_place(lane, c);
    quants[low.byte] |= std::byte((in[c] & 0xf) << low.shift);
    if (type == dtype::q6_k) {
      const place high = high_place(lane, c);
      quants[high.byte] |= std::byte((in[c] >> 4) << high.shift);
    }
  }
}

void get_run(dtype type, std::int64_t lane, const std::byte* quants,
             std::uint8_t* out) {
  for (int c = 0; c < run_columns; ++c) {
    if (type == dtype::q8_0) {
      out[c] = u8(quants[c / 4 * 64 + lane * 4 + c % 4]);
      continue;
    }
    const place low = low_place(lane, c);
    out[c] = (u8(quants[low.byte]) >> low.shift) & 0xf;
    if (type == dtype::q6_k) {
      const place high = high_place(lane, c);
      out[c] |= ((u8(quants[high.byte]) >> high.shift) & 3) << 4;
    }
  }
}

/// 6-bit scale and minimum of run `run` in the 12 bytes of a q4_k block.
void read_k_scales(const std::byte* packed, int run, std::byte& scale,
                   std::byte& minimum) {
  if (run < 4) {
    scale = packed[run] & std::byte(63);
    minimum = packed[run + 4] & std::byte(63);
  } else {
    const std::byte both = packed[run + 4];
    scale = (both & std::byte(0xf)) | (packed[run - 4] >> 6 << 4);
    minimum = (both >> 4) | (packed[run] >> 6 << 4);
  }
}

/// The inverse; packed is zeroed.
void write_k_scales(std::byte* packed, int run, std::byte scale,
                    std::byte minimum) {
  if (run < 4) {
    packed[run] |= scale;
    packed[run + 4] |= minimum;
  } else {
    packed[run + 4] = (scale & std::byte(0xf)) | (minimum << 4);
    packed[run - 4] |= scale >> 4 << 6;
    packed[run] |= minimum >> 4 << 6;
  }
}

void put_scales(dtype type, const panel_layout& layout, std::int64_t lane,
                std::int64_t block, const std::byte* b, std::byte* panel) {
  const std::int64_t runs = block_values(type) / run_columns;
  std::byte* scales
      = panel + layout.scales_at + block * runs * layout.scale_bytes;
  std::byte* super = panel + layout.supers_at + block * layout.super_bytes;
  switch (type) {
  case dtype::q4_1:
    std::memcpy(scales + 32 + 2 * lane, b + 2, 2);
    [[fallthrough]];
  case dtype::q8_0:
  case dtype::q4_0:
    std::memcpy(scales + 2 * lane, b, 2);
    break;
  case dtype::q4_k:
    std::memcpy(super + 2 * lane, b, 2);
    std::memcpy(super + 32 + 2 * lane, b + 2, 2);
    for (int run = 0; run < 8; ++run, scales += 32)
      read_k_scales(b + 4, run, scales[lane], scales[16 + lane]);
    break;
  case dtype::q6_k:
    std::memcpy(super + 2 * lane, b + 208, 2);
    for (int run = 0; run < 8; ++run, scales += 32) {
      scales[lane] = b[192 + 2 * run];
      scales[16 + lane] = b[192 + 2 * run + 1];
    }
    break;
  default:
    break;
  }
}

void get_scales(dtype type, const panel_layout& layout, std::int64_t lane,
                std::int64_t block, const std::byte* panel, std::byte* b) {
  const std::int64_t runs = block_values(type) / run_columns;
  const std::byte* scales
      = panel + layout.scales_at + block * runs * layout.scale_bytes;
  const std::byte* super
      = panel + layout.supers_at + block * layout.super_bytes;
  switch (type) {
  case dtype::q4_1:
    std::memcpy(b + 2, scales + 32 + 2 * lane, 2);
    [[fallthrough]];
  case dtype::q8_0:
  case dtype::q4_0:
    std::memcpy(b, scales + 2 * lane, 2);
    break;
  case dtype::q4_k:
    std::memcpy(b, super + 2 * lane, 2);
    std::memcpy(b + 2, super + 32 + 2 * lane, 2);
    for (int run = 0; run < 8; ++run, scales += 32)
      write_k_scales(b + 4, run, scales[lane], scales[16 + lane]);
    break;
  case dtype::q6_k:
    std::memcpy(b + 208, super + 2 * lane, 2);
    for (int run = 0; run < 8; ++run, scales += 32) {
      b[192 + 2 * run] = scales[lane];
      b[192 + 2 * run + 1] = scales[16 + lane];
    }
    break;
  default:
    break;
  }
}

} // namespace

panel_layout layout_of(dtype type, std::int64_t columns) {
  panel_layout layout;
  layout.n_runs = columns / run_columns;
  layout.quant_bytes = 256;
  layout.scale_bytes = 32;
  switch (type) {
  case dtype::q8_0:
    layout.quant_bytes = 512;
    break;
  case dtype::q4_1:
    layout.scale_bytes = 64;
    break;
  case dtype::q4_k:
    layout.super_bytes = 64;
    break;
  case dtype::q6_k:
    layout.quant_bytes = 384;
    layout.super_bytes = 32;
    break;
  default:
    break;
  }
  layout.scales_at = layout.n_runs * layout.quant_bytes;
  layout.supers_at = layout.scales_at + layout.n_runs * layout.scale_bytes;
  const std::int64_t used
      = layout.supers_at + columns / block_values(type) * layout.super_bytes;
  layout.panel_bytes = (used + 63) / 64 * 64;
  return layout;
}

void pack_panel(dtype type, const panel_layout& layout, std::int64_t n_rows,
                const std::byte* rows, std::byte* panel) {
  std::memset(panel, 0, static_cast<std::size_t>(layout.panel_bytes));
  const std::int64_t runs = block_values(type) / run_columns;
  const std::int64_t blocks = layout.n_runs / runs;
  integers values{};
  for (std::int64_t lane = 0; lane < n_rows; ++lane)
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::byte* b = rows + (lane * blocks + block) * block_bytes(type);
      read_integers(type, b, values);
      for (std::int64_t run = 0; run < runs; ++run)
        put_run(type, lane, values.data() + run * run_columns,
                panel + (block * runs + run) * layout.quant_bytes);
      put_scales(type, layout, lane, block, b, panel);
    }
}

void unpack_row(dtype type, const panel_layout& layout, const std::byte* panel,
                std::int64_t lane, std::byte* row) {
  const std::int64_t runs = block_values(type) / run_columns;
  const std::int64_t blocks = layout.n_runs / runs;
  std::memset(row, 0, static_cast<std::size_t>(blocks * block_bytes(type)));
  integers values{};
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::byte* b = row + block * block_bytes(type);
    for (std::int64_t run = 0; run < runs; ++run)
      get_run(type, lane, panel + (block * runs + run) * layout.quant_bytes,
              values.data() + run * run_columns);
    write_integers(type, values, b);
    get_scales(type, layout, lane, block, panel, b);
  }
}

} // namespace kvloom::kernels
