#include "report/write/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kvloom::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

request_result ok(const std::string& id, std::int64_t ttft_ms,
                  std::vector<std::int64_t> itl_ms, double f1) {
  request_result one;
  one.id = id;
  one.ok = true;
  one.ttft_ns = ttft_ms * 1000000;
  one.parts.recompute_ns = ttft_ms * 1000000;
  for (const auto gap : itl_ms) one.itl_ns.push_back(gap * 1000000);
  one.e2e_ns = 1;
  one.finish = finish_reason::eos;
  one.scores["f1"] = f1;
  one.tokens = token_account{
      5, 0, 0, 0, 5, static_cast<std::int64_t>(itl_ms.size()) + 1};
  return one;
}

std::vector<request_result> some() {
  std::vector<request_result> all{ok("a", 10, {2, 4}, 1), ok("b", 30, {}, 0)};
  all[1].finish = finish_reason::length;
  all[1].scores.clear(); // no usable gold
  request_result failed;
  failed.id = "c";
  failed.error_text = "too long";
  all.push_back(failed);
  all.push_back(ok("w", 1000, {1000}, 0));
  all.back().warmup = true;
  return all;
}

TEST(run_summary, figures_over_good_requests_only) {
  const run_summary summary{3, 2, 1, 1, 2000000000, false};
  const auto text = json::parse(summary.to_json(some()));
  EXPECT_EQ(text["schema"], "kvloom/summary/1");
  EXPECT_EQ(text["requests"], 3);
  EXPECT_EQ(text["failed"], 1);
  EXPECT_EQ(text["interrupted"], false);
  EXPECT_EQ(text["wall_ms"], 2000.0);
  const auto& figures = text["figures"];
  EXPECT_EQ(figures["ttft_ms"]["n"], 2);
  EXPECT_EQ(figures["ttft_ms"]["mean"], 20.0);
  EXPECT_EQ(figures["tpot_ms"]["n"], 1);
  EXPECT_EQ(figures["tpot_ms"]["mean"], 3.0);
  EXPECT_EQ(figures["itl_ms"]["n"], 2);
  EXPECT_EQ(text["scores"]["f1"]["n"], 1);
  EXPECT_EQ(text["unscored"], 1);
  EXPECT_EQ(text["without_tpot"], 1);
  EXPECT_EQ(text["ended_early"], 1);
  EXPECT_EQ(text["finish"]["eos"], 1);
  EXPECT_EQ(text["finish"]["length"], 1);
  EXPECT_EQ(text["output_tokens"], 4);
  EXPECT_EQ(text["output_tokens_per_s"], 2.0);
  EXPECT_EQ(text["ttft_parts_ms"]["recompute"]["mean"], 20.0);
  ASSERT_EQ(text["failures"].size(), 1U);
  EXPECT_EQ(text["failures"][0]["id"], "c");
  EXPECT_EQ(text["failures"][0]["error"], "too long");
  EXPECT_THAT(text["definitions"]["rouge_l"], HasSubstr("sentence level"));
}

TEST(run_summary, intervals_are_over_questions) {
  const run_summary summary{6, 6, 0, 0, 2000000000, false};
  std::vector<request_result> once{ok("a", 10, {2, 4}, 1), ok("b", 30, {6}, 0)};
  auto thrice = once;
  for (std::uint32_t repeat = 1; repeat < 3; ++repeat)
    for (auto one : once) {
      one.repeat = repeat;
      thrice.push_back(one);
    }
  const auto few = json::parse(summary.to_json(once));
  const auto many = json::parse(summary.to_json(thrice));
  EXPECT_EQ(many["scores"]["f1"]["n"], 6);
  EXPECT_EQ(many["scores"]["f1"]["mean_ci95"],
            few["scores"]["f1"]["mean_ci95"]);
  EXPECT_EQ(many["figures"]["ttft_ms"]["mean_ci95"],
            few["figures"]["ttft_ms"]["mean_ci95"]);
  // Gaps of one question are drawn together: 3 and 6 are its ends, not 2.
  EXPECT_EQ(few["figures"]["itl_ms"]["mean_ci95"], json({3.0, 6.0}));
  EXPECT_EQ(few["figures"]["itl_ms"]["min"], 2.0);
  once.pop_back();
  const auto lone = json::parse(summary.to_json(once));
  EXPECT_EQ(lone["figures"]["itl_ms"]["mean_ci95"], json({3.0, 3.0}));
}

TEST(run_summary, definitions_are_always_there) {
  auto unscored = some();
  for (auto& one : unscored) one.scores.clear();
  for (const auto& results : {unscored, std::vector<request_result>()}) {
    const auto text = json::parse(run_summary().to_json(results));
    EXPECT_FALSE(text.contains("scores"));
    EXPECT_THAT(text["definitions"]["mean_ci95"], HasSubstr("questions"));
  }
}

TEST(run_summary, nothing_done_is_no_division_by_zero) {
  const run_summary summary;
  const auto text = summary.to_json({});
  EXPECT_THAT(text, Not(HasSubstr("null")));
  EXPECT_FALSE(json::parse(text).contains("scores"));
  EXPECT_THAT(summary_table({}, summary), HasSubstr("0 requests"));
}

TEST(run_summary, table_for_people) {
  const run_summary summary{3, 2, 1, 1, 2000000000, true};
  const auto table = summary_table(some(), summary);
  EXPECT_THAT(table, HasSubstr("TTFT"));
  EXPECT_THAT(table, HasSubstr("TPOT"));
  EXPECT_THAT(table, HasSubstr("F1"));
  EXPECT_THAT(table, HasSubstr("1 failed"));
  EXPECT_THAT(table, HasSubstr("interrupted"));
}

} // namespace
} // namespace kvloom::report
