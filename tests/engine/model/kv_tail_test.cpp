#include "core/tensor/float_bits.hpp"
#include "engine/model/kv_tail.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kvloom::engine {
namespace {

model_config shape() {
  model_config model;
  model.n_layers = 2;
  model.n_q_heads = 6;
  model.n_kv_heads = 3;
  model.head_dim = 16;
  return model;
}

/// Value of (layer, k or v, token, head, channel): whole and below 256, so
/// exact in bf16; channel 3 stands out by its sign.
float value(int layer, int v, std::int64_t token, int head, int channel) {
  const auto place
      = static_cast<float>((layer * 2 + v) * 64 + token * 8 + head + 1);
  return channel == 3 ? -place : place;
}

TEST(kv_tail, rows_land_in_their_layer_head_and_token) {
  for (const dtype type : {dtype::f32, dtype::bf16}) {
    auto tail = kv_tail::reserve(shape(), type, 7);
    ASSERT_TRUE(tail);
    EXPECT_EQ(tail->bytes(), 7 * 2 * 2 * 3 * 16 * block_bytes(type));
    const std::int64_t stride = 2 * 3 * 16 + 5;
    for (int layer = 0; layer < 2; ++layer)
      for (std::int64_t first = 0; first < 6; first += 3) {
        std::vector<float> rows(static_cast<std::size_t>(3 * stride));
        for (std::int64_t r = 0; r < 3; ++r)
          for (int v = 0; v < 2; ++v)
            for (int h = 0; h < 3; ++h)
              for (int c = 0; c < 16; ++c)
                rows[static_cast<std::size_t>(r * stride + v * 48 + h * 16 + c)]
                    = value(layer, v, first + r, h, c);
        tail->write(layer, first, 3, rows.data(), rows.data() + 48, stride);
      }
    for (int layer = 0; layer < 2; ++layer) {
      const auto seen = tail->view(layer, 2, 6);
      EXPECT_EQ(seen.n_keys, 4);
      EXPECT_EQ(seen.first_position, 2);
      EXPECT_EQ(seen.type, type);
      for (int v = 0; v < 2; ++v)
        for (int h = 0; h < 3; ++h)
          for (std::int64_t j = 0; j < 4; ++j)
            for (int c = 0; c < 16; ++c) {
              const std::int64_t at = h * seen.head_stride + j * 16 + c;
              const void* base = v == 0 ? seen.k : seen.v;
              const float got
                  = type == dtype::f32
                        ? static_cast<const float*>(base)[at]
                        : bf16_to_f32(
                            static_cast<const std::uint16_t*>(base)[at]);
              ASSERT_EQ(got, value(layer, v, j + 2, h, c));
            }
    }
  }
}

TEST(kv_tail, moves_leave_nothing_behind) {
  auto a = kv_tail::reserve(shape(), dtype::f32, 4);
  auto b = kv_tail::reserve(shape(), dtype::f32, 9);
  ASSERT_TRUE(a && b);
  a->set_length(3);
  *b = std::move(*a);
  EXPECT_EQ(b->length(), 3);
  EXPECT_EQ(b->capacity(), 4);
  const kv_tail c = std::move(*b);
  EXPECT_EQ(c.length(), 3);
}

TEST(kv_tail, more_than_the_machine_has_is_an_error) {
  const auto huge = kv_tail::reserve(shape(), dtype::f32, 1LL << 36);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, errc::environment);
  EXPECT_NE(huge.error().message.find("memory"), std::string::npos);
}

} // namespace
} // namespace kvloom::engine
