// The forms in which KV is stored, and the way from and to computing types.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kvloom::storage {

/// int8, int4: q * scale with one f32 scale for each head vector [head_dim],
/// symmetric: scale = max|x| / 127 (7), q rounded to nearest. int4 holds q + 8,
/// two a byte, the even element in the low half.
enum class kv_form : std::uint8_t { f32, f16, bf16, int8, int4 };

/// Errors: bad_input naming the known forms.
result<kv_form> parse_kv_form(std::string_view name);
const char* to_string(kv_form form);

constexpr bool has_scales(kv_form form) {
  return form == kv_form::int8 || form == kv_form::int4;
}

/// Whether the stored bytes are those of computing.
bool same_bits(kv_form form, dtype type);

/// Bytes of a layer as stored: [2][n_kv_heads][n_tokens][head_dim], and its
/// scales: f32 [2][n_kv_heads][n_tokens] (0 bytes for forms without).
std::int64_t stored_layer_bytes(kv_form form, const kv_shape& shape);
std::int64_t scale_layer_bytes(kv_form form, const kv_shape& shape);

/// One layer from shape.type to `form`; any thread. Errors: bad_input where
/// the form can't hold the values (infinite, NaN, too large for f16, an odd
/// head_dim for int4). f32 and bf16 hold everything.
result<void> encode_layer(kv_form form, const kv_shape& shape,
                          std::span<const std::byte> layer,
                          std::span<std::byte> kv, std::span<std::byte> scales);

/// The way back; any thread.
void decode_layer(kv_form form, const kv_shape& shape,
                  std::span<const std::byte> kv,
                  std::span<const std::byte> scales,
                  std::span<std::byte> layer);

/// What a reader of the stored chunk would get. The same object where the form
/// loses nothing. Errors: of encode_layer(), and environment without memory.
result<std::shared_ptr<const kv_chunk>>
as_stored(kv_form form, std::shared_ptr<const kv_chunk> chunk);

/// |stored - x| / |x| (L2 norms over a whole layer; 0 where x is 0).
struct form_error {
  double k = 0, v = 0;
};

/// One a layer. Errors: those of encode_layer().
result<std::vector<form_error>> measure_form_error(kv_form form,
                                                   const kv_chunk& chunk);

} // namespace kvloom::storage
