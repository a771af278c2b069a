#include "core/tensor/float_bits.hpp"
#include "kernels/api/linear.hpp"
#include "linear_fixture.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace kvloom::kernels {
namespace {

using form = weight_matrix::form;

weight_matrix made(std::initializer_list<matrix_source> parts, form as) {
  auto matrix = weight_matrix::make({parts.begin(), parts.size()}, as);
  EXPECT_TRUE(matrix) << to_string(matrix.error());
  return std::move(*matrix);
}

error fault(std::initializer_list<matrix_source> parts, form as) {
  auto matrix = weight_matrix::make({parts.begin(), parts.size()}, as);
  EXPECT_FALSE(matrix);
  return matrix ? error{} : matrix.error();
}

std::vector<float> row_of(const file_matrix& from, std::int64_t r) {
  std::vector<float> row(static_cast<std::size_t>(from.columns));
  dequantise_row(from.type,
                 from.bytes.data() + r * row_bytes(from.type, from.columns),
                 from.columns, row.data());
  return row;
}

std::vector<float> row_of(const weight_matrix& from, std::int64_t r) {
  std::vector<float> row(static_cast<std::size_t>(from.columns()));
  from.row(r, row.data());
  return row;
}

TEST(weight_matrix, gives_stored_rows_back_bit_for_bit) {
  for (const dtype type : block_types())
    for (const std::int64_t rows : {1, 15, 16, 17, 50}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << rows);
      const file_matrix a = random_matrix(type, rows, 768, 1);
      const file_matrix b = random_matrix(dtype::q8_0, 5, 768, 2);
      const weight_matrix w = made({a.source(), b.source()}, form::as_stored);
      EXPECT_EQ(w.rows(), rows + 5);
      EXPECT_EQ(w.columns(), 768);
      EXPECT_EQ(w.dense(), nullptr);
      EXPECT_GE(w.bytes(), static_cast<std::int64_t>(a.bytes.size()));
      for (std::int64_t r = 0; r < rows; ++r)
        ASSERT_TRUE(same_bits(row_of(w, r), row_of(a, r))) << r;
      for (std::int64_t r = 0; r < 5; ++r)
        ASSERT_TRUE(same_bits(row_of(w, rows + r), row_of(b, r))) << r;
    }
}

TEST(weight_matrix, stacks_parts_of_any_types_widened_or_rounded) {
  for (const dtype type : all_types()) {
    SCOPED_TRACE(to_string(type));
    const file_matrix a = random_matrix(type, 33, 256, 3);
    const file_matrix b = random_matrix(dtype::f16, 7, 256, 4);
    const weight_matrix wide = made({a.source(), b.source()}, form::f32);
    const weight_matrix narrow = made({a.source(), b.source()}, form::bf16);
    EXPECT_EQ(wide.bytes(), 40 * 256 * 4);
    EXPECT_EQ(narrow.bytes(), 40 * 256 * 2);
    for (std::int64_t r = 0; r < 40; ++r) {
      std::vector<float> wanted = r < 33 ? row_of(a, r) : row_of(b, r - 33);
      ASSERT_TRUE(same_bits(row_of(wide, r), wanted)) << r;
      const auto* dense = static_cast<const float*>(wide.dense()) + r * 256;
      ASSERT_TRUE(same_bits({dense, dense + 256}, wanted)) << r;
      for (float& value : wanted) value = bf16_to_f32(f32_to_bf16(value));
      ASSERT_TRUE(same_bits(row_of(narrow, r), wanted)) << r;
    }
  }
}

TEST(weight_matrix, copies_a_part_of_its_own_type_bit_for_bit) {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    patterns[i] = static_cast<std::uint16_t>(i);
  const matrix_source source{
      dtype::bf16, reinterpret_cast<const std::byte*>(patterns.data()), 256,
      256};
  const weight_matrix w = made({source}, form::bf16);
  EXPECT_EQ(std::memcmp(w.dense(), patterns.data(), 0x20000), 0);
}

TEST(weight_matrix, is_aligned_for_vectors) {
  for (const std::int64_t rows : {1, 3000}) {
    const file_matrix a = random_matrix(dtype::q8_0, rows, 512, 5);
    const weight_matrix w = made({a.source()}, form::f32);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.dense()) % 64, 0U);
  }
}

TEST(weight_matrix, is_empty_when_new_moved_from_or_made_of_nothing) {
  const file_matrix a = random_matrix(dtype::q4_1, 3, 64, 6);
  weight_matrix w = made({a.source()}, form::as_stored);
  weight_matrix moved = std::move(w);
  EXPECT_EQ(moved.rows(), 3);
  const weight_matrix fresh;
  const weight_matrix none = made({}, form::bf16);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  for (const weight_matrix* empty : {&std::as_const(w), &fresh, &none}) {
    EXPECT_EQ(empty->rows(), 0);
    EXPECT_EQ(empty->columns(), 0);
    EXPECT_EQ(empty->bytes(), 0);
    multiply_few(*empty, 2, nullptr, nullptr);
    multiply_many(*empty, 2, nullptr, nullptr);
  }
  w = std::move(moved);
  EXPECT_EQ(w.rows(), 3);
}

TEST(weight_matrix, refuses_what_cannot_be_a_matrix) {
  const file_matrix a = random_matrix(dtype::q8_0, 2, 64, 7);
  const file_matrix b = random_matrix(dtype::q8_0, 2, 96, 8);
  const file_matrix plain = random_matrix(dtype::f16, 2, 64, 9);
  const error columns = fault({a.source(), b.source()}, form::f32);
  EXPECT_EQ(columns.code, errc::bad_input);
  EXPECT_NE(columns.message.find("part 1 (q8_0, 2 x 96)"), std::string::npos)
      << columns.message;
  const error stored = fault({plain.source()}, form::as_stored);
  EXPECT_EQ(stored.code, errc::bad_input);
  EXPECT_NE(stored.message.find("not quantised"), std::string::npos);
  matrix_source half_block = a.source();
  half_block.columns = 48;
  EXPECT_NE(fault({half_block}, form::f32).message.find("whole blocks"),
            std::string::npos);
  matrix_source negative = a.source();
  negative.rows = -1;
  EXPECT_EQ(fault({negative}, form::f32).code, errc::bad_input);
  matrix_source huge = a.source();
  huge.rows = std::int64_t{1} << 60;
  EXPECT_EQ(fault({huge}, form::f32).code, errc::bad_input);
  EXPECT_EQ(fault({{dtype::f32, nullptr, 2, 2}}, form::f32).code,
            errc::bad_input);
}

// Sanitizers end the program instead of refusing the memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(weight_matrix, says_so_when_memory_is_short) {
  matrix_source huge{dtype::q8_0, nullptr, std::int64_t{1} << 45, 64};
  const std::byte somewhere{};
  huge.bytes = &somewhere;
  const error short_of = fault({huge}, form::f32);
  EXPECT_EQ(short_of.code, errc::environment);
  EXPECT_NE(short_of.message.find("9007199254740992 bytes"), std::string::npos)
      << short_of.message;
}
#endif

} // namespace
} // namespace kvloom::kernels
