// One safetensors file, right and wrong.
#include "engine/files/safetensors.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::engine {
namespace {

using namespace test_support;
using testing::HasSubstr;

class safetensors : public testing::Test {
protected:
  struct opened {
    std::shared_ptr<const file_map> map;
    std::vector<std::pair<std::string, file_tensor>> tensors;
  };

  result<opened> read(const std::string& bytes) const {
    write_file(folder_ / "model.safetensors", bytes);
    auto map = file_map::open(folder_ / "model.safetensors");
    if (!map) return pass_on(map);
    auto tensors = read_safetensors(**map);
    if (!tensors) return pass_on(tensors);
    return opened{*map, std::move(*tensors)};
  }

  std::string refused(const std::string& bytes) const {
    const auto made = read(bytes);
    EXPECT_FALSE(made);
    if (made) return {};
    EXPECT_EQ(made.error().code, errc::environment);
    EXPECT_THAT(made.error().place, HasSubstr("model.safetensors"));
    return made.error().message;
  }

  /// A file with one entry over four bytes of data.
  std::string refused_entry(const std::string& entry) const {
    return refused(safetensors_bytes(R"({"a.weight":)" + entry + "}", "data"));
  }

private:
  temp_folder folder_;
};

TEST_F(safetensors, names_types_shapes_and_data) {
  const auto made = read(safetensors_bytes({
      {"one", dtype::f32, {1, 2}, "12345678"},
      {"two", dtype::bf16, {2}, "abcd"},
      {"none", dtype::f16, {0, 3}, ""},
      {"scalar", dtype::f16, {}, "xy"},
  }));
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(made->tensors.size(), 4U);
  for (const auto& [name, tensor] : made->tensors) {
    if (name == "two") {
      EXPECT_EQ(tensor.type, dtype::bf16);
      EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{2});
      EXPECT_EQ(std::memcmp(tensor.bytes, "abcd", 4), 0);
    }
    if (name == "none") {
      EXPECT_EQ(tensor.n_bytes, 0U);
    }
    if (name == "scalar") {
      EXPECT_EQ(tensor.n_bytes, 2U);
    }
  }
}

TEST_F(safetensors, metadata_alone_is_no_tensor) {
  const auto made
      = read(safetensors_bytes(R"({"__metadata__":{"key":"v"}})", ""));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_THAT(made->tensors, testing::IsEmpty());
  // What a faulty writer made of it.
  EXPECT_THAT(
      refused(safetensors_bytes(R"({},"__metadata__":{"key":"v"}})", "")),
      HasSubstr("byte 3"));
}

TEST_F(safetensors, the_header_is_inside_the_file) {
  EXPECT_THAT(refused("1234567"), HasSubstr("7 bytes"));
  for (const std::uint64_t length :
       {std::uint64_t{3}, std::uint64_t{1} << 62U, ~std::uint64_t{0},
        std::uint64_t{0x07DF9D40}}) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    EXPECT_THAT(refused(bytes + "{}"), HasSubstr(std::to_string(length)));
  }
  EXPECT_THAT(refused(safetensors_bytes(std::string(" {}"), "")),
              HasSubstr("begin with {"));
}

TEST_F(safetensors, entries_that_do_not_hold) {
  const std::pair<const char*, const char*> cases[] = {
      {"3", "lacks"},
      {R"({"dtype":"F32","shape":[1]})", "lacks"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", "lacks"},
      {R"({"dtype":1,"shape":[1],"data_offsets":[0,4]})", "lacks"},
      {R"({"dtype":"F99","shape":[1],"data_offsets":[0,4]})", "F99"},
      {R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "shape"},
      {R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", "shape"},
      {R"({"dtype":"F32","shape":["1"],"data_offsets":[0,4]})", "shape"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[-4,4]})", "no sizes"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "[4, 0)"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", "[4, 8)"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "takes 8"},
      {R"({"dtype":"F32","shape":[4611686018427387904,4],
           "data_offsets":[0,4]})",
       "overflows"},
      {R"({"dtype":"F32","shape":[4294967296,4294967296],
           "data_offsets":[0,0]})",
       "overflows"},
      {R"({"dtype":"F32","shape":[18446744073709551615],
           "data_offsets":[0,4]})",
       "shape"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"strides":[1]})",
       "strides"},
  };
  for (const auto& [entry, reason] : cases) {
    EXPECT_THAT(refused_entry(entry), HasSubstr(reason)) << entry;
    EXPECT_THAT(refused_entry(entry), HasSubstr("\"a.weight\""));
  }
}

TEST_F(safetensors, no_overlap_no_gap_no_rest) {
  const auto two = [&](const char* a, const char* b, const char* data) {
    return refused(safetensors_bytes(
        std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + a
            + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
        data));
  };
  EXPECT_THAT(two("[0,4]", "[0,4]", "12345678"), HasSubstr("overlap"));
  EXPECT_THAT(two("[0,4]", "[2,6]", "123456"), HasSubstr("overlap"));
  EXPECT_THAT(two("[0,4]", "[5,9]", "123456789"), HasSubstr("left out"));
  EXPECT_THAT(two("[1,5]", "[5,9]", "123456789"), HasSubstr("left out"));
  EXPECT_THAT(two("[0,4]", "[4,8]", "123456789"), HasSubstr("1 bytes behind"));
}

TEST_F(safetensors, json_that_two_readers_would_read_differently) {
  const char* entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_THAT(
      refused(safetensors_bytes(
          std::string(R"({"a":)") + entry + R"(,"a":)" + entry + "}", "data")),
      HasSubstr("occurs twice"));
  EXPECT_THAT(refused(safetensors_bytes(std::string(R"({"a":)") + entry + "} x",
                                        "data")),
              HasSubstr("JSON"));
  EXPECT_THAT(refused(safetensors_bytes("{\"\xff\":1}", "")),
              HasSubstr("JSON"));
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_THAT(refused(safetensors_bytes(deep, "")), HasSubstr("nested"));
}

// Same-type data is used as it lies: every pattern of bf16 is kept.
TEST_F(safetensors, every_bf16_pattern_is_kept) {
  std::string patterns;
  for (unsigned bits = 0; bits < 65'536; ++bits) {
    patterns += static_cast<char>(bits & 0xffU);
    patterns += static_cast<char>(bits >> 8U);
  }
  const auto made
      = read(safetensors_bytes({{"all", dtype::bf16, {65'536}, patterns}}));
  ASSERT_TRUE(made) << to_string(made.error());
  const file_tensor& tensor = made->tensors.front().second;
  EXPECT_EQ(std::memcmp(tensor.bytes, patterns.data(), patterns.size()), 0);
}

// Data of an odd place is copied, so that readers may load whole floats.
TEST_F(safetensors, unaligned_data_is_copied) {
  const std::string data = "x12345678";
  const auto made = read(safetensors_bytes(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
      data));
  ASSERT_TRUE(made) << to_string(made.error());
  weight_table table;
  for (const auto& [name, tensor] : made->tensors)
    ASSERT_TRUE(table.add(name, tensor));
  weight_storage storage;
  const auto view = table.take("b", {2}, storage);
  ASSERT_TRUE(view) << to_string(view.error());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view->bytes) % 4, 0U);
  EXPECT_EQ(std::memcmp(view->bytes, "12345678", 8), 0);
  // A type that is no weight type is named.
  const auto wrong = table.take("a", {1}, storage);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, errc::bad_input);
  EXPECT_THAT(wrong.error().message, HasSubstr("U8"));
}

} // namespace
} // namespace kvloom::engine
