#include "report/score/score.hpp"

#include <gtest/gtest.h>

namespace kvloom::report {
namespace {

TEST(clean_answer, first_line_is_the_first_that_is_not_blank) {
  const auto line = [](std::string_view text) {
    return clean_answer(text, answer_cleaning::first_line);
  };
  EXPECT_EQ(line("\n\n Kim is ill. \nDialogue: ..."), "Kim is ill.");
  EXPECT_EQ(line("one\r\ntwo"), "one");
  EXPECT_EQ(line(""), "");
  EXPECT_EQ(line(" \n "), "");
  EXPECT_EQ(line("Norway"), "Norway");
}

TEST(clean_answer, none_changes_nothing) {
  EXPECT_EQ(clean_answer(" a\nb ", answer_cleaning::none), " a\nb ");
}

} // namespace
} // namespace kvloom::report
