#include "report/score/answer_words.hpp"
#include "report/score/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::report {
namespace {

using testing::ElementsAre;

TEST(normalise_answer, as_squad_and_for_every_script) {
  EXPECT_EQ(normalise_answer("  The Valley,\n of a  Sarn. "), "valley of sarn");
  EXPECT_EQ(normalise_answer("10\u00a0km\u3000"), "10 km");
  EXPECT_EQ(normalise_answer("„Straße“ — ПЕТЕРБУРГ!"), "strasse петербург");
  EXPECT_EQ(normalise_answer("Ra\u0301ko\u0301czi"),
            normalise_answer("RÁKÓCZI"));
  EXPECT_EQ(normalise_answer("東京。"), "東京");
  EXPECT_EQ(normalise_answer("5 € a^b"), "5 € ab");
}

TEST(normalise_answer, keeps_what_would_leave_nothing) {
  EXPECT_EQ(normalise_answer("The The"), "the the");
  EXPECT_EQ(normalise_answer("A+"), "a");
  EXPECT_EQ(normalise_answer("!!!"), "!!!");
  EXPECT_EQ(normalise_answer("---"), "---");
  EXPECT_EQ(normalise_answer(" \n"), "");
}

TEST(normalise_answer, bytes_that_are_no_utf8_do_no_harm) {
  EXPECT_EQ(normalise_answer("ab\xff"), "ab\ufffd");
  EXPECT_EQ(normalise_answer(std::string_view("a\0b", 3)),
            std::string("a\0b", 3));
}

TEST(rouge_words, as_the_package_cuts_them) {
  EXPECT_THAT(rouge_words("The rivers' flooding, 3.14!", rouge_alphabet::ascii),
              ElementsAre("the", "river", "flood", "3", "14"));
  EXPECT_THAT(rouge_words("Röntgen", rouge_alphabet::ascii),
              ElementsAre("r", "ntgen"));
}

TEST(rouge_words, golds_without_ascii_are_cut_by_their_own_script) {
  EXPECT_EQ(alphabet_for("東京"), rouge_alphabet::unicode);
  EXPECT_EQ(alphabet_for("Röntgen"), rouge_alphabet::ascii);
  EXPECT_THAT(rouge_words("東京タワー, МИР", rouge_alphabet::unicode),
              ElementsAre("東", "京", "タ", "ワ", "ー", "мир"));
}

} // namespace
} // namespace kvloom::report
