#include "report/score/score_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvloom::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class score_files_of : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path()
              / ("kvloom-score-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  result<file_scores> score(std::string_view predictions,
                            std::string_view golds,
                            answer_cleaning cleaning = answer_cleaning::none) {
    std::ofstream(folder_ / "p.jsonl", std::ios::binary) << predictions;
    std::ofstream(folder_ / "g.jsonl", std::ios::binary) << golds;
    return score_files(folder_ / "p.jsonl", folder_ / "g.jsonl", cleaning);
  }

  std::filesystem::path folder_;
};

TEST_F(score_files_of, predictions_and_golds_meet_by_id) {
  const auto got = score("{\"id\": \"a\", \"answer\": \"The Sarn\"}\n\n"
                         "{\"id\": 2, \"answer\": \"\"}\r\n"
                         "{\"id\": \"z\", \"answer\": \"x\"}\n",
                         "{\"id\": 2, \"golds\": \"x\"}\n"
                         "{\"id\": \"a\", \"answers\": [[\"y\"], \"Sarn\"]}\n"
                         "{\"id\": \"c\", \"answer\": 17}\n");
  ASSERT_TRUE(got.has_value()) << to_string(got.error());
  EXPECT_EQ(got->f1.n, 2U);
  EXPECT_EQ(got->f1.mean, 0.5);
  EXPECT_EQ(got->em.mean, 0.5);
  EXPECT_THAT(got->without_gold, ElementsAre("z"));
  EXPECT_THAT(got->unanswered, ElementsAre("c"));
  const auto text = nlohmann::json::parse(got->to_json());
  EXPECT_EQ(text["f1"]["mean"], 0.5);
  EXPECT_THAT(got->table(), HasSubstr("0.5000"));
}

TEST_F(score_files_of, results_of_a_run_are_predictions_and_golds) {
  const std::string lines
      = R"({"id": "a", "repeat": 0, "warmup": true, "answer": "x", "golds": ["Sarn"]}
{"id": "a", "repeat": 0, "status": "ok", "answer": "Sarn", "golds": ["Sarn"]}
{"id": "a", "repeat": 1, "status": "ok", "answer": "x", "golds": ["Sarn"]}
{"id": "b", "status": "failed", "error": "e", "golds": ["y"]}
)";
  const auto got = score(lines, lines);
  ASSERT_TRUE(got.has_value()) << to_string(got.error());
  EXPECT_EQ(got->em.n, 2U);
  EXPECT_EQ(got->em.mean, 0.5);
  EXPECT_EQ(got->failed, 1U);
  EXPECT_EQ(got->warmups, 1U);
}

TEST_F(score_files_of, repeats_of_an_answer_do_not_narrow_the_interval) {
  std::string once, thrice, golds;
  for (int i = 0; i < 20; ++i) {
    const auto id = std::to_string(i);
    golds += "{\"id\": " + id + ", \"golds\": [\"x\"]}\n";
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto line
          = "{\"id\": " + id + ", \"repeat\": " + std::to_string(repeat)
            + ", \"answer\": \"" + (i % 3 == 0 ? "x" : "y") + "\"}\n";
      thrice += line;
      if (repeat == 0) once += line;
    }
  }
  const auto few = score(once, golds).value().em;
  const auto many = score(thrice, golds).value().em;
  EXPECT_EQ(many.n, 60U);
  EXPECT_LT(few.mean_low, few.mean_high);
  EXPECT_EQ(many.mean_low, few.mean_low);
  EXPECT_EQ(many.mean_high, few.mean_high);
}

TEST_F(score_files_of, rows_without_a_usable_gold_are_not_scored) {
  const auto got = score("{\"id\": 1, \"answer\": \"x\"}\n"
                         "{\"id\": 2, \"answer\": \"x\"}\n",
                         "{\"id\": 1, \"golds\": []}\n"
                         "{\"id\": 2, \"golds\": [\"???\", \"x\"]}\n");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->f1.n, 1U);
  EXPECT_EQ(got->f1.mean, 1);
  EXPECT_EQ(got->unusable_golds, 1U);
}

TEST_F(score_files_of, cleaning_comes_first) {
  const auto* golds = "{\"id\": 1, \"golds\": [\"Kim is ill\"]}\n";
  const auto* answer
      = "{\"id\": 1, \"answer\": \"\\n\\nKim is ill.\\nDialogue: no\"}\n";
  EXPECT_LT(score(answer, golds)->f1.mean, 1);
  EXPECT_EQ(score(answer, golds, answer_cleaning::first_line)->f1.mean, 1);
}

TEST_F(score_files_of, faults_name_file_and_line) {
  const auto refused
      = [&](std::string_view predictions, std::string_view golds) {
          const auto got = score(predictions, golds);
          EXPECT_FALSE(got.has_value()) << predictions << golds;
          return got ? std::string() : to_string(got.error());
        };
  const auto* p = "{\"id\": 1, \"answer\": \"x\"}\n";
  const auto* g = "{\"id\": 1, \"golds\": [\"x\"]}\n";
  EXPECT_THAT(refused("{\"id\": 1, \"answer\": \"x\"}\n{\"id\"\n", g),
              HasSubstr("p.jsonl:2"));
  EXPECT_THAT(refused("\n{\"answer\": \"x\"}\n", g), HasSubstr("p.jsonl:2"));
  EXPECT_THAT(refused("{\"id\": 1}\n", g), HasSubstr("answer"));
  EXPECT_THAT(refused(std::string(p) + p, g), HasSubstr("twice"));
  EXPECT_THAT(refused(p, "{\"id\": 1, \"golds\": [\"x\"]}\n"
                         "{\"id\": 1, \"golds\": [\"y\"]}\n"),
              HasSubstr("g.jsonl:2"));
  EXPECT_THAT(refused(p, "{\"id\": 1}\n"), HasSubstr("golds"));
  EXPECT_THAT(refused(p, "{\"id\": 1, \"golds\": [true]}\n"),
              HasSubstr("golds"));
  std::string deep(1000, '[');
  deep.append(1000, ']');
  EXPECT_THAT(
      refused(p,
              std::string(R"({"id": 1, "golds": )").append(deep).append("}\n")),
      HasSubstr("golds"));
  EXPECT_FALSE(score_files(folder_ / "none.jsonl", folder_ / "g.jsonl",
                           answer_cleaning::none)
                   .has_value());
}

} // namespace
} // namespace kvloom::report
