#include "configs/read/yaml_reader.hpp"
#include "configs/schema/quote.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

TEST(utf8_length, accepts_what_unicode_allows) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("\xc3\xa9"), 2U);
  EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3U);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4U);
}

TEST(utf8_length, refuses_overlong_surrogate_cut_and_too_large) {
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82", "\x80", "\xff",
        "\xf4\x90\x80\x80", "\xf0\x80\x80\x80"})
    EXPECT_EQ(utf8_length(bad), 0U);
}

TEST(shown, escapes_what_a_terminal_would_obey) {
  EXPECT_EQ(shown("a b"), "`a b`");
  EXPECT_EQ(shown("\x1b[31m\n"), "`\\x1b[31m\\n`");
  EXPECT_EQ(shown("\xff"), "`\\xff`");
  EXPECT_EQ(shown("\xc2\x9b"), "`\\u009b`");
  EXPECT_EQ(shown("\xe2\x80\xae"), "`\\u202e`");
  EXPECT_EQ(shown("\xc3\xa9"), "`\xc3\xa9`");
  EXPECT_EQ(shown(std::string(1000, 'x')).size(), 65U);
}

TEST(yaml_scalar, quotes_what_readers_take_for_something_else) {
  for (const char* plain : {"full", "a b", "/data/x-1.json", "_x"})
    EXPECT_EQ(yaml_scalar(plain), plain);
  for (const char* text :
       {"no",    "Yes", "ON", "y",   "null", "true", "007",  "1e3",
        "1_1_1", "~",   "",   " a",  "a ",   "a: b", "a #b", "- a",
        "[a",    "{a",  "&a", "*a",  "!a",   "|",    ">",    "%a",
        "@a",    "`a",  "'a", "\"a", "a,b",  "nan",  ".inf", "=",
        "<<",    "?",   "-",  "---", "..."})
    EXPECT_EQ(yaml_scalar(text).front(), '"') << text;
}

TEST(yaml_scalar, reads_back_as_the_same_text) {
  std::vector<std::string> texts{"no",
                                 "a\nb\tc\r\n",
                                 "\"\\\"",
                                 "\\n",
                                 "caf\xc3\xa9",
                                 "\xf0\x9f\x98\x80",
                                 "\xe2\x80\xa8x\xe2\x80\xa9",
                                 "\xc2\x85",
                                 "\xef\xbb\xbf",
                                 "\x01\x1f\x7f",
                                 "# no comment",
                                 "a: b",
                                 "  both ends  ",
                                 "'single'",
                                 "\xf4\x8f\xbf\xbf",
                                 std::string("nul\0inside", 10)};
  for (int c = 1; c < 256; ++c) {
    const char one = static_cast<char>(c);
    if (c < 128) texts.emplace_back(3, one);
    if (c < 128) texts.push_back(std::string("a") + one + "b");
  }
  for (const std::string& text : texts) {
    const std::string written = yaml_scalar(text);
    EXPECT_EQ(written.find('\n'), std::string::npos);
    const auto document = read_yaml("key: " + written + "  # why\n", "t");
    ASSERT_TRUE(document.problems.empty())
        << written << to_string(document.problems.front());
    EXPECT_EQ(document.root->find("key")->value->text, text) << written;
    const auto flow = read_yaml("{key: [" + written + ", x]}", "t");
    ASSERT_TRUE(flow.problems.empty()) << written;
    EXPECT_EQ(flow.root->find("key")->value->items.at(0)->text, text);
  }
}

} // namespace
} // namespace kvloom::configs
