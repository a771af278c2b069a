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

} // namespace
} // namespace kvloom::datasets
