#include "report/score/score.hpp"
#include "tests/report/golden_file.hpp"

#include <array>

namespace kvloom::report {
namespace {

answer_scores score(std::string_view answer, std::vector<std::string> golds) {
  return score_answer(answer, golds);
}

TEST(score_answer, agrees_with_the_public_scorers) {
  const auto cases = golden("golden_scores.json");
  ASSERT_GE(cases.size(), 190U);
  for (const auto& one : cases) {
    const auto got = score(one["answer"].get<std::string>(),
                           one["golds"].get<std::vector<std::string>>());
    EXPECT_TRUE(got.scored) << one;
    EXPECT_EQ(got.em, one["em"].get<double>()) << one;
    EXPECT_NEAR(got.f1, one["f1"].get<double>(), 1e-6) << one;
    EXPECT_NEAR(got.rouge_l, one["rouge_l"].get<double>(), 1e-12) << one;
  }
}

TEST(score_answer, best_over_the_golds) {
  const auto got = score("Sarn", {"x", "the valley of Sarn", "Sarn"});
  EXPECT_EQ(got.em, 1);
  EXPECT_EQ(got.f1, 1);
  EXPECT_EQ(got.rouge_l, 1);
}

TEST(score_answer, unusable_golds_are_skipped_and_counted) {
  auto got = score("Paris", {"Paris", "???"});
  EXPECT_TRUE(got.scored);
  EXPECT_EQ(got.f1, 1);
  EXPECT_EQ(got.unusable_golds, 1U);
  got = score("Paris", {"???"});
  EXPECT_FALSE(got.scored);
  EXPECT_EQ(got.unusable_golds, 1U);
  EXPECT_FALSE(score("Paris", {}).scored);
  EXPECT_FALSE(score("Paris", {"", " \n"}).scored);
  EXPECT_FALSE(score("", {"!!!"}).scored);
}

TEST(score_answer, answers_that_normalisation_would_erase) {
  for (const auto* text : {"The The", "!!!", "A+", "---"}) {
    const auto got = score(text, {text});
    EXPECT_TRUE(got.scored) << text;
    EXPECT_EQ(got.em, 1) << text;
    EXPECT_EQ(got.f1, 1) << text;
  }
  EXPECT_EQ(score("???", {"!!!"}).em, 0);
  EXPECT_TRUE(score("???", {"!!!"}).scored);
}

TEST(score_answer, empty_answers_score_nothing) {
  for (const auto* text : {"", "\n", " "}) {
    const auto got = score(text, {"Paris"});
    EXPECT_TRUE(got.scored);
    EXPECT_EQ(got.em + got.f1 + got.rouge_l, 0);
  }
}

TEST(score_answer, a_gold_scores_full_marks_against_itself) {
  for (const auto* text :
       {"two sentences. and more", "東京タワー", "Санкт-Петербург", "नमस्ते"}) {
    const auto got = score(text, {text});
    EXPECT_EQ(got.em, 1) << text;
    EXPECT_EQ(got.f1, 1) << text;
    EXPECT_EQ(got.rouge_l, 1) << text;
  }
  EXPECT_EQ(score("大阪", {"東京"}).rouge_l, 0);
}

TEST(score_answer, line_breaks_alone_change_no_rouge_l) {
  EXPECT_EQ(score("a b. c d. e f.", {"c d. a b. e f."}).rouge_l,
            score("a b.\nc d.\ne f.", {"c d.\na b.\ne f."}).rouge_l);
}

TEST(score_answer, stemmed) {
  EXPECT_EQ(score("p14 activate prb", {"p14 activates prb"}).rouge_l, 1);
}

TEST(token_id_f1, counts_ids) {
  const std::array<int, 3> answer{5, 5, 7};
  const std::array<int, 2> gold{5, 9};
  EXPECT_DOUBLE_EQ(token_id_f1(answer, gold), 0.4);
  EXPECT_EQ(token_id_f1(answer, answer), 1);
  EXPECT_EQ(token_id_f1({}, gold), 0);
  EXPECT_EQ(token_id_f1(answer, {}), 0);
}

} // namespace
} // namespace kvloom::report
