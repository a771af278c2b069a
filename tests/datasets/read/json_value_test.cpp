#include "datasets/read/json_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::datasets {
namespace {

using testing::HasSubstr;

json_value good(std::string_view text) {
  auto read = parse_json({"f.json", text, 1});
  EXPECT_TRUE(read.has_value()) << text << to_string(read.error());
  return read ? std::move(*read) : json_value{};
}

std::string bad(std::string_view text) {
  const auto read = parse_json({"f.json", text, 1});
  EXPECT_FALSE(read.has_value()) << text;
  return read ? std::string() : to_string(read.error());
}

TEST(json_value, keeps_kinds_and_order) {
  const auto root = good(R"({"b": [1, -2.50, "x", true, null], "a": {}})");
  const auto& members = *root.as_object();
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].name, "b");
  const auto& list = *members[0].value.as_list();
  EXPECT_EQ(list[0].as_number()->spelling, "1");
  EXPECT_EQ(list[1].as_number()->spelling, "-2.50");
  EXPECT_EQ(*list[2].as_text(), "x");
  EXPECT_TRUE(*list[3].as_bool());
  EXPECT_TRUE(list[4].is_null());
  EXPECT_TRUE(root.find("a")->as_object()->empty());
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(json_value, numbers_of_any_size_keep_their_spelling) {
  const auto root = good("[123456789012345678901234567890, 1.10, 1e3]");
  const auto& list = *root.as_list();
  EXPECT_EQ(list[0].as_number()->spelling, "123456789012345678901234567890");
  EXPECT_EQ(list[1].as_number()->spelling, "1.10");
  EXPECT_EQ(list[2].as_number()->spelling, "1e3");
}

TEST(json_value, knows_its_lines) {
  const std::string_view text = "[\n{\"a\":\n\n17\n,\"b\":null},\n\"x\"\n]\n";
  const json_source source{"f.json", text, 1};
  const auto root = parse_json(source).value();
  const auto& list = *root.as_list();
  EXPECT_EQ(source.place(root.at), "f.json:1");
  EXPECT_EQ(source.place(list[0].at), "f.json:2");
  EXPECT_EQ(source.place(list[0].find("a")->at), "f.json:4");
  EXPECT_EQ(source.place(list[0].find_any("b")->at), "f.json:5");
  EXPECT_EQ(source.place(list[1].at), "f.json:6");
}

TEST(json_value, faults_name_their_line) {
  EXPECT_THAT(bad("[1,\n2,\n}"), HasSubstr("f.json:3"));
  EXPECT_THAT(bad("[1,\n2"), HasSubstr("f.json:2"));
  EXPECT_THAT(bad("[1] 2"), HasSubstr("f.json:1"));
  EXPECT_THAT(bad(""), HasSubstr("f.json:1"));
  EXPECT_THAT(bad("[\"\xff\"]"), HasSubstr("f.json:1"));
  EXPECT_THAT(bad(R"(["\ud800"])"), HasSubstr("f.json:1"));
  EXPECT_THAT(bad("[1e999]"), HasSubstr("f.json:1"));
}

TEST(json_value, a_name_that_comes_twice_is_refused) {
  const auto said = bad("{\"a\": 1,\n\"b\": {\"a\": 2},\n\"a\": 3}");
  EXPECT_THAT(said, HasSubstr("f.json:3"));
  EXPECT_THAT(said, HasSubstr("\"a\" comes twice"));
}

TEST(json_value, depth_is_bounded) {
  EXPECT_THAT(bad(std::string(100000, '[')), HasSubstr("64 levels"));
  good(std::string(64, '[') + std::string(64, ']'));
}

TEST(json_value, long_faulty_text_is_not_repeated_in_full) {
  EXPECT_LT(bad("[\"" + std::string(100000, 'x') + "\x01\"]").size(), 600U);
}

} // namespace
} // namespace kvloom::datasets
