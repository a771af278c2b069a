#include "actors/nodes/question_source.hpp"
#include "actors/support/run_books.hpp"
#include "tests/actors/run_plans.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct books_test : testing::Test {
  std::shared_ptr<datasets::dataset> data = some_questions(4);
  request_plan plan = plan_requests(data, {false, 0, 1, 1}); // 1 warm-up + 4
  emission source{plan, 0, 10 * second};
  run_books books{plan, nullptr, nullptr, {}};

  request_ptr emit(std::int64_t now) {
    if (!source.may_emit()) source.finished(0);
    auto request = source.next(now);
    books.emitted(request, now);
    return request;
  }

  answered answer(const request_ptr& request, std::string text) {
    auto line = blank_result(request->plan);
    line.ok = true;
    line.answer = std::move(text);
    line.ttft_ns = 5;
    line.token_ids = {1, 2};
    return {request, std::make_shared<const request_result>(line), 0};
  }
};

} // namespace

TEST_F(books_test, every_request_ends_once) {
  const auto warmup = emit(1);
  EXPECT_TRUE(books.answered(answer(warmup, "x"), 2));
  const auto first = emit(3);
  EXPECT_TRUE(books.answered(answer(first, "gold 0"), 4));
  EXPECT_FALSE(books.answered(answer(first, "other"), 5));
  EXPECT_FALSE(books.failed({first->plan.sequence, {}, nullptr}, 5));
  EXPECT_FALSE(books.failed({99, {}, nullptr}, 5)); // unknown
  EXPECT_EQ(books.record().late, 3u);
  EXPECT_EQ(books.record().warmups, 1u);
  ASSERT_EQ(books.record().results.size(), 1u);
  EXPECT_EQ(books.record().results[0].answer, "gold 0");
  EXPECT_EQ(books.record().results[0].scores.at("em"), 1);
  EXPECT_EQ(books.record().first_ns, 3);
  EXPECT_FALSE(books.complete());
}

TEST_F(books_test, a_failed_line_has_a_reason_and_no_measurements) {
  emit(1);
  const auto first = emit(3);
  const auto partial = answer(first, "half").outcome;
  books.failed({first->plan.sequence,
                {errc::bad_input, "too long; lower top_k", "request \"q0\""},
                partial},
               4);
  const auto& line = books.record().results.at(0);
  EXPECT_FALSE(line.ok);
  EXPECT_EQ(line.error_text,
            "bad_input: request \"q0\": too long; lower top_k");
  EXPECT_FALSE(line.answer);
  EXPECT_FALSE(line.ttft_ns);
  EXPECT_TRUE(line.token_ids.empty());
  EXPECT_TRUE(line.scores.empty());
}

TEST_F(books_test, an_answer_past_its_deadline_is_a_failure) {
  emit(1);
  const auto first = emit(3);
  EXPECT_TRUE(books.answered(answer(first, "gold 0"), 3 + 11 * second));
  ASSERT_EQ(books.record().results.size(), 1u);
  EXPECT_FALSE(books.record().results[0].ok);
  EXPECT_NE(books.record().results[0].error_text->find("deadline"),
            std::string::npos);
}

TEST_F(books_test, what_is_overdue_fails) {
  emit(1);
  EXPECT_TRUE(books.check(9 * second).empty());
  EXPECT_EQ(books.check(11 * second), std::vector<std::uint64_t>{0});
  EXPECT_EQ(books.record().failed_warmups, 1u);
  EXPECT_TRUE(books.check(12 * second).empty());
}

TEST_F(books_test, a_cancelled_run_lists_what_was_under_way) {
  const auto warmup = emit(1);
  books.answered(answer(warmup, "x"), 2);
  emit(3);
  EXPECT_EQ(books.abandon({errc::cancelled, "told to stop", {}}, 4).size(), 4u);
  EXPECT_TRUE(books.complete());
  EXPECT_EQ(books.record().results.size(), 1u);
  EXPECT_EQ(books.record().not_asked, 3u);
}

TEST_F(books_test, a_lost_run_fails_everything) {
  const auto warmup = emit(1);
  books.answered(answer(warmup, "x"), 2);
  emit(3);
  books.abandon({errc::internal, "an actor died", {}}, 4);
  EXPECT_TRUE(books.complete());
  ASSERT_EQ(books.record().results.size(), 4u);
  for (const auto& line : books.record().results)
    EXPECT_EQ(line.error_text, "internal: an actor died");
  EXPECT_EQ(books.progress(5).failed, 4u);
  EXPECT_EQ(books.progress(5).total, 4u);
}

TEST_F(books_test, a_run_that_asks_no_more_is_given_up) {
  const auto warmup = emit(second);
  books.answered(answer(warmup, "x"), 2 * second);
  // Longest of 60 s and the longest deadline.
  EXPECT_TRUE(books.check(60 * second).empty());
  EXPECT_EQ(books.check(63 * second).size(), 4u);
  EXPECT_TRUE(books.complete());
  EXPECT_NE(books.record().results[0].error_text->find("credit"),
            std::string::npos);
}

TEST_F(books_test, lines_are_on_disk_as_they_end) {
  const scratch_folder scratch;
  auto made = report::run_folder::create(scratch / "run");
  ASSERT_TRUE(made);
  const auto folder = std::make_shared<report::run_folder>(std::move(*made));
  run_books written(plan, folder, nullptr, {});
  const auto request = source.next(1);
  written.emitted(request, 1);
  written.answered(answer(request, "x"), 2);
  EXPECT_EQ(lines_of(scratch / "run/results.jsonl").size(), 1u); // the warm-up
  written.abandon({errc::internal, "an actor died", {}}, 4);
  EXPECT_EQ(lines_of(scratch / "run/results.jsonl").size(), 5u);
  EXPECT_FALSE(written.record().write_failure);
}
