#include "report/write/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace kvloom::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

request_result full() {
  request_result one;
  one.point = 2;
  one.repeat = 1;
  one.id = "q1";
  one.ok = true;
  one.question = "Where?";
  one.answer = "Sarn";
  one.golds = {"Sarn", "the valley"};
  one.token_ids = {5, 6, 2};
  one.finish = finish_reason::eos;
  one.scores = {{"em", 1}, {"f1", 1}, {"rouge_l", 1}};
  one.ttft_ns = 123456;
  one.parts.queue_ns = 23456;
  one.parts.recompute_ns = 100000;
  one.retrieve_ns = 7000;
  one.itl_ns = {1000000, 3000000};
  one.e2e_ns = 9000000;
  one.tokens = token_account{10, 0, 0, 0, 10, 3};
  one.retrieved = {{3, 12.5}, {0, 0}};
  one.prefill = prefill_report{"full", {}, {}, {}};
  one.first_logits = {{17, 12.25F}, {4, -1.5F}};
  one.dropped_passages = {1};
  return one;
}

TEST(json_line, a_good_request_to_the_letter) {
  EXPECT_EQ(
      to_json_line(full()),
      R"({"schema":"kvloom/result/1","point":2,"repeat":1,"id":"q1",)"
      R"("status":"ok","question":"Where?","answer":"Sarn",)"
      R"("golds":["Sarn","the valley"],"token_ids":[5,6,2],"finish":"eos",)"
      R"("scores":{"em":1.0,"f1":1.0,"rouge_l":1.0},"ttft_ms":0.123456,)"
      R"("tpot_ms":2.0,"itl_ms":{"p50":2.0,"p95":2.9,"p99":2.98,"max":3.0},)"
      R"("e2e_ms":9.0,"ttft_parts_ms":{"queue":0.023456,"recompute":0.1},)"
      R"("retrieve_ms":0.007,"tokens":{"prompt":10,"prefix_hit":0,)"
      R"("chunk_hit":0,"recomputed":0,"missed":10,"output":3},)"
      R"("retrieved":[{"chunk":3,"score":12.5},{"chunk":0,"score":0.0}],)"
      R"("dropped_passages":[1],"prefill":{"mode":"full"},)"
      R"("first_logits":[{"id":17,"logit":12.25},{"id":4,"logit":-1.5}]})");
}

TEST(json_line, what_does_not_apply_is_absent) {
  request_result one;
  one.id = "q2";
  one.question = "Why?";
  one.error_text = "prompt of 9000 tokens, the model takes 8192";
  EXPECT_EQ(to_json_line(one),
            R"({"schema":"kvloom/result/1","point":0,"repeat":0,"id":"q2",)"
            R"("status":"failed",)"
            R"("error":"prompt of 9000 tokens, the model takes 8192",)"
            R"("question":"Why?"})");
}

TEST(json_line, one_token_has_no_time_per_token) {
  auto one = full();
  one.itl_ns.clear();
  const auto line = json::parse(to_json_line(one));
  EXPECT_FALSE(line.contains("tpot_ms"));
  EXPECT_FALSE(line.contains("itl_ms"));
}

TEST(json_line, numbers_are_finite) {
  auto one = full();
  one.scores["f1"] = std::numeric_limits<double>::quiet_NaN();
  one.retrieved[0].score = std::numeric_limits<double>::infinity();
  one.first_logits[1].second = -std::numeric_limits<float>::infinity();
  const auto text = to_json_line(one);
  EXPECT_THAT(text, Not(HasSubstr("null")));
  const auto line = json::parse(text);
  EXPECT_EQ(line["first_logits"].size(), 1U);
  EXPECT_FALSE(line["retrieved"][0].contains("score"));
}

TEST(json_line, is_one_line_of_utf8_whatever_the_answer) {
  auto one = full();
  one.answer = "line one\nline \"two\"\t\xff\xf0\x9f\x98\x80\x01";
  one.question = "東京?";
  const auto text = to_json_line(one);
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const auto line = json::parse(text);
  EXPECT_EQ(line["answer"], "line one\nline \"two\"\t\ufffd\U0001F600\x01");
  EXPECT_EQ(line["question"], "東京?");
}

TEST(json_line, warm_ups_say_so) {
  auto one = full();
  EXPECT_FALSE(json::parse(to_json_line(one)).contains("warmup"));
  one.warmup = true;
  EXPECT_EQ(json::parse(to_json_line(one))["warmup"], true);
}

} // namespace
} // namespace kvloom::report
