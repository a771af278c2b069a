#include "core/base/sha256.hpp"
#include "datasets/read/file_bytes.hpp"
#include "tests/datasets/data_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace kvloom::datasets {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t plenty = 1U << 26;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(
      deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(gunzip, gives_back_what_was_packed) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + "\n";
  EXPECT_EQ(gunzip(gzip(text), plenty, "x").value(), text);
  EXPECT_EQ(gunzip(gzip(""), plenty, "x").value(), "");
}

TEST(gunzip, joins_members) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("two"), plenty, "x").value(), "one two");
}

TEST(gunzip, a_bomb_is_stopped_at_the_limit) {
  const auto packed = gzip(std::string(1U << 24, 'a'));
  ASSERT_LT(packed.size(), 1U << 16);
  const auto read = gunzip(packed, 1U << 20, "bomb.gz");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, errc::bad_input);
  EXPECT_THAT(read.error().message, HasSubstr("1048576"));
  EXPECT_TRUE(gunzip(packed, 1U << 24, "bomb.gz").has_value());
}

TEST(gunzip, every_cut_is_noticed) {
  const auto packed = gzip("some text, some more text, and the end");
  for (std::size_t n = 2; n < packed.size(); ++n) {
    const auto read = gunzip(packed.substr(0, n), plenty, "x");
    ASSERT_FALSE(read.has_value()) << n;
    EXPECT_THAT(read.error().message, HasSubstr("ends early"));
  }
}

TEST(gunzip, every_flipped_byte_of_the_data_is_noticed) {
  const std::string text = "some text, some more text, and the end";
  const auto packed = gzip(text);
  for (std::size_t i = 10; i < packed.size(); ++i) { // behind the header
    auto damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    EXPECT_FALSE(gunzip(damaged, plenty, "x").has_value()) << i;
  }
}

TEST(read_file_bytes, digest_is_that_of_the_file_as_it_lies) {
  const auto packed = gzip("[]");
  const data_file file(packed);
  const auto read = read_file_bytes(file.path(), plenty);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->text, "[]");
  EXPECT_TRUE(read->gzip);
  EXPECT_EQ(read->sha256, sha256_hex(packed));
}

TEST(read_file_bytes, what_is_not_there_is_the_environments_fault) {
  const auto none = read_file_bytes("/nowhere/data.json", plenty);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, errc::environment);
  EXPECT_EQ(none.error().place, "/nowhere/data.json");
  const auto folder
      = read_file_bytes(std::filesystem::temp_directory_path(), plenty);
  ASSERT_FALSE(folder.has_value());
  EXPECT_THAT(folder.error().message, HasSubstr("folder"));
}

TEST(read_file_bytes, plain_files_have_the_limit_too) {
  const data_file file("[1, 2, 3]");
  EXPECT_TRUE(read_file_bytes(file.path(), 9).has_value());
  EXPECT_FALSE(read_file_bytes(file.path(), 8).has_value());
}

} // namespace
} // namespace kvloom::datasets
