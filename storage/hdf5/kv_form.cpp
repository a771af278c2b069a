#include "storage/hdf5/kv_form.hpp"

#include "core/tensor/float_bits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace kvloom::storage {

namespace {

constexpr std::array<std::pair<kv_form, const char*>, 5> form_names{
    {{kv_form::f32, "f32"},
     {kv_form::f16, "f16"},
     {kv_form::bf16, "bf16"},
     {kv_form::int8, "int8"},
     {kv_form::int4, "int4"}}};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// One row of a computing type to f32.
void widen(dtype type, const std::byte* in, std::span<float> out) {
  const auto n = std::ssize(out);
  if (type == dtype::f32) {
    std::memcpy(out.data(), in, out.size_bytes());
  } else if (type == dtype::bf16) {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      out[i] = bf16_to_f32(load<std::uint16_t>(in + 2 * i));
  } else {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      out[i] = f16_to_f32(load<std::uint16_t>(in + 2 * i));
  }
}

void narrow(dtype type, std::span<const float> in, std::byte* out) {
  const auto n = std::ssize(in);
  if (type == dtype::f32) {
    std::memcpy(out, in.data(), in.size_bytes());
  } else if (type == dtype::bf16) {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      store(out + 2 * i, f32_to_bf16(in[i]));
  } else {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      store(out + 2 * i, f32_to_f16(in[i]));
  }
}

dtype plain_type(kv_form form) {
  if (form == kv_form::f32) return dtype::f32;
  return form == kv_form::f16 ? dtype::f16 : dtype::bf16;
}

std::int64_t stored_row_bytes(kv_form form, std::int64_t head_dim) {
  if (form == kv_form::f32) return 4 * head_dim;
  if (form == kv_form::int8) return head_dim;
  if (form == kv_form::int4) return head_dim / 2;
  return 2 * head_dim;
}

/// Largest |x|; not finite if any x is not.
float peak(std::span<const float> row) {
  float most = 0;
  for (const float x : row) {
    if (!std::isfinite(x)) return std::fabs(x);
    most = std::max(most, std::fabs(x));
  }
  return most;
}

/// |x| < 2^22 to the nearest whole number, ties to even: the float adder does
/// it, in vectors too.
float rounded(float x) {
  constexpr float shift = 0x1.8p23F;
  return (x + shift) - shift;
}

std::int8_t quantised(float x, float scale, float most) {
  return static_cast<std::int8_t>(std::clamp(rounded(x / scale), -most, most));
}

/// Returns false where the form can't hold the row.
bool encode_row(kv_form form, std::span<const float> row, std::byte* kv,
                std::byte* scale_at) {
  const float most = peak(row);
  if (!has_scales(form)) {
    if (form == kv_form::f16 && !(most < 65520)) return false;
    narrow(plain_type(form), row, kv);
    return true;
  }
  if (!std::isfinite(most)) return false;
  const float steps = form == kv_form::int8 ? 127.0F : 7.0F;
  float scale = most / steps;
  // Below the smallest normal number, quotients would lose their meaning.
  if (scale < 0x1p-126F) scale = 0;
  // Rounded up, the largest value would come back infinite.
  if (!std::isfinite(scale * steps)) scale = std::nextafter(scale, 0.0F);
  store(scale_at, scale);
  const auto q = [&](std::size_t i) {
    return scale == 0 ? std::int8_t{0} : quantised(row[i], scale, steps);
  };
  if (form == kv_form::int8) {
    for (std::size_t i = 0; i < row.size(); ++i) store(kv + i, q(i));
  } else {
    for (std::size_t i = 0; i < row.size(); i += 2)
      kv[i / 2] = static_cast<std::byte>((q(i) + 8) | ((q(i + 1) + 8) << 4));
  }
  return true;
}

void decode_row(kv_form form, const std::byte* kv, const std::byte* scale_at,
                std::span<float> row) {
  if (!has_scales(form)) return widen(plain_type(form), kv, row);
  const auto scale = load<float>(scale_at);
  const auto n = std::ssize(row);
  if (form == kv_form::int8) {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      row[i] = scale * static_cast<float>(load<std::int8_t>(kv + i));
  } else {
    for (std::ptrdiff_t i = 0; i + 1 < n; i += 2) {
      const auto pair = std::to_integer<int>(kv[i / 2]);
      row[i] = scale * static_cast<float>((pair & 15) - 8);
      row[i + 1] = scale * static_cast<float>((pair >> 4) - 8);
    }
  }
}

/// A layer as stored, in memory of its own.
struct stored_layer {
  stored_layer(kv_form form, const kv_shape& shape)
      : kv(static_cast<std::size_t>(stored_layer_bytes(form, shape))),
        scales(static_cast<std::size_t>(scale_layer_bytes(form, shape))) {}
  std::vector<std::byte> kv, scales;
};

std::span<const std::byte> layer_of(const kv_chunk& chunk, std::int64_t layer) {
  const auto bytes = chunk.shape().layer_bytes();
  return chunk.payload().subspan(static_cast<std::size_t>(layer * bytes),
                                 static_cast<std::size_t>(bytes));
}

double relative_error(dtype type, std::span<const std::byte> exact,
                      std::span<const std::byte> got) {
  const auto width = static_cast<std::size_t>(block_bytes(type));
  double off = 0, norm = 0;
  for (std::size_t at = 0; at + width <= exact.size(); at += width) {
    float x = 0, y = 0;
    widen(type, exact.data() + at, {&x, 1});
    widen(type, got.data() + at, {&y, 1});
    off += (double{y} - x) * (double{y} - x);
    norm += double{x} * x;
  }
  return norm > 0 ? std::sqrt(off / norm) : 0;
}

} // namespace

result<kv_form> parse_kv_form(std::string_view name) {
  for (const auto& [form, known] : form_names)
    if (name == known) return form;
  return fail(errc::bad_input, "unknown stored form `" + std::string(name)
                                   + "`; known are f32, f16, bf16, int8, int4");
}

const char* to_string(kv_form form) {
  return form_names[static_cast<std::size_t>(form)].second;
}

bool same_bits(kv_form form, dtype type) {
  return !has_scales(form) && plain_type(form) == type;
}

std::int64_t stored_layer_bytes(kv_form form, const kv_shape& shape) {
  return 2 * shape.n_kv_heads * shape.n_tokens
         * stored_row_bytes(form, shape.head_dim);
}

std::int64_t scale_layer_bytes(kv_form form, const kv_shape& shape) {
  return has_scales(form) ? 2 * shape.n_kv_heads * shape.n_tokens * 4 : 0;
}

result<void> encode_layer(kv_form form, const kv_shape& shape,
                          std::span<const std::byte> layer,
                          std::span<std::byte> kv,
                          std::span<std::byte> scales) {
  if (form == kv_form::int4 && shape.head_dim % 2 != 0)
    return fail(errc::bad_input, "int4 needs an even head_dim, this model has "
                                     + std::to_string(shape.head_dim)
                                     + "; store int8");
  std::vector<float> row(static_cast<std::size_t>(shape.head_dim));
  const auto from = shape.head_dim * block_bytes(shape.type);
  const auto to = stored_row_bytes(form, shape.head_dim);
  const auto n_rows = 2 * shape.n_kv_heads * shape.n_tokens;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    widen(shape.type, layer.data() + r * from, row);
    if (!encode_row(form, row, kv.data() + r * to, scales.data() + r * 4))
      return fail(errc::bad_input,
                  std::string("KV holds values that ") + to_string(form)
                      + " can't (infinite, NaN, or too large); store bf16");
  }
  return {};
}

void decode_layer(kv_form form, const kv_shape& shape,
                  std::span<const std::byte> kv,
                  std::span<const std::byte> scales,
                  std::span<std::byte> layer) {
  std::vector<float> row(static_cast<std::size_t>(shape.head_dim));
  const auto from = stored_row_bytes(form, shape.head_dim);
  const auto to = shape.head_dim * block_bytes(shape.type);
  const auto n_rows = 2 * shape.n_kv_heads * shape.n_tokens;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    decode_row(form, kv.data() + r * from, scales.data() + r * 4, row);
    narrow(shape.type, row, layer.data() + r * to);
  }
}

result<std::shared_ptr<const kv_chunk>>
as_stored(kv_form form, std::shared_ptr<const kv_chunk> chunk) {
  const auto& shape = chunk->shape();
  // f32 holds every bf16 and f16 exactly.
  if (same_bits(form, shape.type) || form == kv_form::f32) return chunk;
  auto memory = kv_buffer::allocate(shape.bytes());
  if (!memory) return kvloom::pass_on(memory);
  auto made = kv_chunk::make(shape, chunk->base(),
                             {chunk->ids().begin(), chunk->ids().end()},
                             std::move(*memory));
  if (!made) return kvloom::pass_on(made);
  stored_layer held(form, shape);
  const auto bytes = static_cast<std::size_t>(shape.layer_bytes());
  for (std::int64_t l = 0; l < shape.n_layers; ++l) {
    auto encoded
        = encode_layer(form, shape, layer_of(*chunk, l), held.kv, held.scales);
    if (!encoded) return kvloom::pass_on(encoded);
    decode_layer(form, shape, held.kv, held.scales,
                 (*made)->payload().subspan(l * bytes, bytes));
  }
  return std::shared_ptr<const kv_chunk>(std::move(*made));
}

result<std::vector<form_error>> measure_form_error(kv_form form,
                                                   const kv_chunk& chunk) {
  const auto& shape = chunk.shape();
  std::vector<form_error> errors;
  stored_layer held(form, shape);
  std::vector<std::byte> got(static_cast<std::size_t>(shape.layer_bytes()));
  for (std::int64_t l = 0; l < shape.n_layers; ++l) {
    const auto exact = layer_of(chunk, l);
    auto encoded = encode_layer(form, shape, exact, held.kv, held.scales);
    if (!encoded) return kvloom::pass_on(encoded);
    decode_layer(form, shape, held.kv, held.scales, got);
    const auto half = exact.size() / 2;
    const std::span<const std::byte> read = got;
    errors.push_back(
        {relative_error(shape.type, exact.first(half), read.first(half)),
         relative_error(shape.type, exact.last(half), read.last(half))});
  }
  return errors;
}

} // namespace kvloom::storage
