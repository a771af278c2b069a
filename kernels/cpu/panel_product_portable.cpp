#include "core/tensor/float_bits.hpp"
#include "kernels/cpu/linear_kernels.hpp"

#include <bit>
#include <cstring>

namespace kvloom::kernels::portable {

namespace {

// Activation rows that share one unpacking of the weights.
constexpr std::int64_t rows_at_once = 8;

float half_at(const std::byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return f16_to_f32(bits);
}

int u8(std::byte b) {
  return std::to_integer<std::uint8_t>(b);
}

int i8(std::byte b) {
  return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(b));
}

/// One run of a panel: integers with their true sign, in the order of the
/// panel ([group][row][4 columns]), and what turns their sums into values:
/// sum_low * factor + sum_high * second_factor + sum of activations * offset.
struct run_weights {
  std::int16_t values[8 * 64];
  float factor[16];
  float second_factor[16]; ///< of the columns 16..31
  float offset[16];
};

void unpack_values(dtype type, const std::byte* quants, run_weights& out) {
  if (type == dtype::q8_0) {
    for (int i = 0; i < 512; ++i)
      out.values[i] = static_cast<std::int16_t>(u8(quants[i]) - 128);
    return;
  }
  const int excess = type == dtype::q4_0 ? 8 : 0;
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 64; ++i) {
      const int pair = u8(quants[k * 64 + i]);
      out.values[2 * k * 64 + i]
          = static_cast<std::int16_t>((pair & 0xf) - excess);
      out.values[(2 * k + 1) * 64 + i]
          = static_cast<std::int16_t>((pair >> 4) - excess);
    }
  if (type != dtype::q6_k) return;
  for (int group = 0; group < 8; ++group)
    for (int i = 0; i < 64; ++i) {
      const int high
          = (u8(quants[256 + group / 4 * 64 + i]) >> (group % 4 * 2)) & 3;
      std::int16_t& value = out.values[group * 64 + i];
      value = static_cast<std::int16_t>((value | (high << 4)) - 32);
    }
}

void unpack_scales(dtype type, const std::byte* scales, const std::byte* supers,
                   run_weights& out) {
  for (int l = 0; l < 16; ++l) {
    out.offset[l] = 0;
    if (type == dtype::q4_k) {
      out.factor[l]
          = half_at(supers + 2 * l) * static_cast<float>(u8(scales[l]));
      out.offset[l] = -half_at(supers + 32 + 2 * l)
                      * static_cast<float>(u8(scales[16 + l]));
    } else if (type == dtype::q6_k) {
      const float super = half_at(supers + 2 * l);
      out.factor[l] = super * static_cast<float>(i8(scales[l]));
      out.second_factor[l] = super * static_cast<float>(i8(scales[16 + l]));
      continue;
    } else {
      out.factor[l] = half_at(scales + 2 * l);
      if (type == dtype::q4_1) out.offset[l] = half_at(scales + 32 + 2 * l);
    }
    out.second_factor[l] = out.factor[l];
  }
}

/// Sums of the products of groups [group, group + 4) with x, by row.
void dot_half(const run_weights& w, int group, const std::int8_t* x,
              std::int32_t (&sums)[16]) {
  for (std::int32_t& sum : sums) sum = 0;
  for (int g = group; g < group + 4; ++g)
    for (int l = 0; l < 16; ++l)
      for (int c = 0; c < 4; ++c)
        sums[l] += w.values[g * 64 + l * 4 + c] * x[g * 4 + c];
}

void panel_times_rows(const panel_product& p, const std::byte* panel,
                      std::int64_t first_row, std::int64_t n_rows,
                      std::int64_t n_outputs, float* y) {
  const std::int64_t n_runs = p.layout.n_runs;
  const bool has_supers = p.layout.super_bytes > 0;
  float total[rows_at_once][16] = {};
  run_weights w{};
  for (std::int64_t run = 0; run < n_runs; ++run) {
    unpack_values(p.type, panel + run * p.layout.quant_bytes, w);
    unpack_scales(p.type,
                  panel + p.layout.scales_at + run * p.layout.scale_bytes,
                  panel + p.layout.supers_at
                      + (has_supers ? run / 8 * p.layout.super_bytes : 0),
                  w);
    for (std::int64_t r = 0; r < n_rows; ++r) {
      const std::int64_t at = (first_row + r) * n_runs + run;
      std::int32_t low[16];
      std::int32_t high[16];
      dot_half(w, 0, p.x.values + at * run_columns, low);
      dot_half(w, 4, p.x.values + at * run_columns, high);
      const float x_scale = p.x.scales[at];
      const auto x_sum
          = static_cast<float>(p.x.sums[2 * at] + p.x.sums[2 * at + 1]);
      for (int l = 0; l < 16; ++l)
        total[r][l] += x_scale
                       * (w.factor[l] * static_cast<float>(low[l])
                          + w.second_factor[l] * static_cast<float>(high[l])
                          + w.offset[l] * x_sum);
    }
  }
  for (std::int64_t r = 0; r < n_rows; ++r)
    std::memcpy(y + (first_row + r) * p.y_stride, total[r],
                static_cast<std::size_t>(n_outputs) * sizeof(float));
}

} // namespace

void round_to_int8(std::int64_t n_runs, const float* x, std::int8_t* values,
                   float* scales, std::int32_t* sums) {
  for (std::int64_t run = 0; run < n_runs; ++run, x += run_columns) {
    // Magnitudes compare as integers, with NaN above infinity.
    std::uint32_t bits = 0;
    for (int i = 0; i < run_columns; ++i) {
      const std::uint32_t one
          = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffU;
      bits = one > bits ? one : bits;
    }
    const auto max = std::bit_cast<float>(bits);
    float inverse = 0;
    if (bits >= 0x7f800000U) {
      scales[run] = max - max; // NaN
    } else if (max < smallest_int8_max) {
      scales[run] = 0;
    } else {
      scales[run] = max / 127.0F;
      inverse = 127.0F / max;
    }
    for (int half = 0; half < 2; ++half) {
      std::int32_t sum = 0;
      for (int i = half * 16; i < half * 16 + 16; ++i) {
        int rounded = 0;
        // Adding 1.5 * 2^23 leaves no place for a fraction: rounds to nearest,
        // ties to even.
        if (inverse != 0)
          rounded = static_cast<int>((x[i] * inverse + 0x1.8p23F) - 0x1.8p23F);
        rounded = rounded > 127 ? 127 : rounded;
        values[run * run_columns + i] = static_cast<std::int8_t>(rounded);
        sum += rounded;
      }
      sums[2 * run + half] = sum;
    }
  }
}

void multiply_panels(const panel_product& p) {
  for (std::int64_t o = 0; o < p.n_outputs; o += panel_rows) {
    const std::byte* panel = p.panels + o / panel_rows * p.layout.panel_bytes;
    const std::int64_t left = p.n_outputs - o;
    for (std::int64_t r = 0; r < p.x.n_rows; r += rows_at_once) {
      const std::int64_t rows_left = p.x.n_rows - r;
      panel_times_rows(p, panel, r,
                       rows_left < rows_at_once ? rows_left : rows_at_once,
                       left < panel_rows ? left : panel_rows, p.y + o);
    }
  }
}

} // namespace kvloom::kernels::portable
