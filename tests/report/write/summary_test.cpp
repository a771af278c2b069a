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
