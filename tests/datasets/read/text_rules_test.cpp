#include "datasets/read/text_rules.hpp"

#include <gtest/gtest.h>

namespace kvloom::datasets {
namespace {

TEST(text_rules, ends_are_stripped_of_unicode_white_space_only) {
  EXPECT_EQ(stripped(" \n\t a\r\nb \u3000\u00a0"), "a\r\nb");
  EXPECT_EQ(stripped("\ufeffa"), "\ufeffa");
  EXPECT_EQ(stripped(""), "");
  EXPECT_EQ(stripped(" \u2003 "), "");
  EXPECT_EQ(stripped("\U0001F600 "), "\U0001F600");
  EXPECT_EQ(stripped(" 東京"), "東京");
}

TEST(text_rules, texts_without_a_shape_are_blank) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \n\t\u00a0"));
  EXPECT_TRUE(is_blank("\ufeff\u200b\u200e"));
  EXPECT_FALSE(is_blank("."));
  EXPECT_FALSE(is_blank("\u200bx"));
  EXPECT_FALSE(is_blank("\U0001F600"));
}

// The first two of these bytes begin a white character; what lies behind the
// text must not complete it.
TEST(text_rules, a_character_that_is_cut_off_is_not_blank) {
  const std::string_view whole = "\xE2\x80\x80\xE3\x80\x80\xC2\xA0";
  EXPECT_TRUE(is_blank(whole));
  EXPECT_EQ(stripped(whole), "");
  for (const auto cut : {whole.substr(0, 1), whole.substr(0, 2),
                         whole.substr(0, 4), whole.substr(3, 2),
                         whole.substr(6, 1), whole.substr(1), whole.substr(2)})
    EXPECT_FALSE(is_blank(cut));
  EXPECT_EQ(stripped(whole.substr(0, 5)), "\xE3\x80");
  EXPECT_FALSE(is_blank("\xC2 "));
  EXPECT_FALSE(is_blank("\xE2\x80 "));
  EXPECT_FALSE(is_blank("\xC0\xA0"));
  EXPECT_FALSE(is_blank("\xFF"));
}

} // namespace
} // namespace kvloom::datasets
