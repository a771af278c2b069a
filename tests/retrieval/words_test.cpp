#include "retrieval/bm25.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::retrieval {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(unicode_words, letters_digits_and_marks_make_words) {
  EXPECT_THAT(unicode_words("Don't stop-now, R2D2_x! 3.14"),
              ElementsAre("don", "t", "stop", "now", "r2d2", "x", "3", "14"));
  EXPECT_THAT(unicode_words(""), IsEmpty());
  EXPECT_THAT(unicode_words(" .,\n\t\u00a0—"), IsEmpty());
  EXPECT_THAT(unicode_words("हिन्दी भाषा"), ElementsAre("हिन्दी", "भाषा"));
  EXPECT_THAT(unicode_words("привет, Мир"), ElementsAre("привет", "мир"));
}

TEST(unicode_words, spellings_of_one_word_meet) {
  const auto word = unicode_words("Rákóczi");
  EXPECT_EQ(unicode_words("Ra\u0301ko\u0301czi"), word);
  EXPECT_EQ(unicode_words("RÁKÓCZI"), word);
  EXPECT_EQ(unicode_words("STRASSE"), unicode_words("Straße"));
  EXPECT_EQ(unicode_words("ＡＢＣ１２"), unicode_words("abc12"));
  EXPECT_EQ(unicode_words("ﬁne"), unicode_words("fine"));
  EXPECT_EQ(unicode_words("ΣΊΣΥΦΟΣ"), unicode_words("σίσυφος"));
  EXPECT_EQ(unicode_words("co\u00adop"), unicode_words("coop"));
}

TEST(unicode_words, scripts_without_spaces_give_characters) {
  EXPECT_THAT(unicode_words("東京タワー2024年abc"),
              ElementsAre("東", "京", "タ", "ワ", "ー", "2024", "年", "abc"));
  EXPECT_THAT(unicode_words("한국어 ok"), ElementsAre("한", "국", "어", "ok"));
  // A voicing mark that has no composed form stays with its character.
  EXPECT_THAT(unicode_words("あ\u3099い"), ElementsAre("あ\u3099", "い"));
}

TEST(unicode_words, bytes_that_are_no_utf8_part_words) {
  EXPECT_THAT(unicode_words("ab\xff"
                            "cd\xc3"),
              ElementsAre("ab", "cd"));
  EXPECT_THAT(unicode_words(std::string_view("a\0b", 3)),
              ElementsAre("a", "b"));
}

TEST(unicode_words, a_long_word_is_one_word) {
  const std::string word(20000, 'x');
  EXPECT_THAT(unicode_words(word), ElementsAre(word));
}

} // namespace
} // namespace kvloom::retrieval
