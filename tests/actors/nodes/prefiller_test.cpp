#include "actors/nodes/prefiller.hpp"
#include "core/base/clock.hpp"
#include "tests/actors/run_plans.hpp"
#include "tests/actors/scripted_model.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

retrieved all_of(const std::shared_ptr<datasets::dataset>& data) {
  retrieved asked;
  asked.request = a_request(data, 0);
  for (const auto& one : data->questions[0].passages) {
    asked.passages.emplace_back(data, &one);
    asked.ranking.push_back({one.index, 1.5});
  }
  asked.retrieve_ns = 77;
  asked.sent_ns = now_ns();
  return asked;
}

std::shared_ptr<scripted_model> model_of(std::int64_t context) {
  scripted_options options;
  options.context = context;
  return std::make_shared<scripted_model>(options);
}

} // namespace

TEST(prompt_maker, splits_the_prompt_at_the_question) {
  const auto data = some_questions(1);
  prefiller_options options;
  options.answer_tokens = 10;
  const auto made = prompt_maker(model_of(4096), options).make(all_of(data));
  ASSERT_TRUE(made);
  const auto& work = **made;
  auto ids = work.context_ids;
  ids.insert(ids.end(), work.question_ids.begin(), work.question_ids.end());
  const auto& passages = data->questions[0].passages;
  EXPECT_EQ(ids, scripted_prompt(data->questions[0],
                                 {passages[0].text, passages[1].text}));
  EXPECT_EQ(work.question_ids.size(), data->questions[0].text.size() + 1);
  // The last token of an answer needs no KV.
  EXPECT_EQ(work.capacity, static_cast<std::int64_t>(ids.size()) + 9);
  EXPECT_EQ(work.draft.tokens->prompt, static_cast<std::int64_t>(ids.size()));
  EXPECT_TRUE(work.draft.tokens->closes());
  EXPECT_EQ(work.draft.retrieve_ns, 77);
  EXPECT_EQ(work.draft.retrieved.size(), 2u);
  EXPECT_LE(work.entered_ns, work.prompt_begin_ns);
  EXPECT_LE(work.prompt_begin_ns, work.prompt_end_ns);
}

TEST(prompt_maker, refuses_what_does_not_fit_with_the_numbers) {
  const auto data = some_questions(1);
  prefiller_options options;
  options.answer_tokens = 10;
  const auto exact = prompt_maker(model_of(4096), options).make(all_of(data));
  const auto capacity = (*exact)->capacity;
  EXPECT_TRUE(prompt_maker(model_of(capacity), options).make(all_of(data)));
  const auto refused
      = prompt_maker(model_of(capacity - 1), options).make(all_of(data));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::bad_input);
  EXPECT_NE(refused.error().place.find("q0"), std::string::npos);
  EXPECT_NE(refused.error().message.find(std::to_string(capacity - 1)),
            std::string::npos);
  EXPECT_NE(refused.error().message.find("top_k"), std::string::npos);
}

TEST(check_prefilled, finds_accounts_that_do_not_close) {
  const auto data = some_questions(1);
  const auto model = model_of(4096);
  auto work = *prompt_maker(model, {}).make(all_of(data));
  EXPECT_FALSE(check_prefilled(*work)); // no KV yet
  work->kv = *model->start(work->capacity);
  ASSERT_TRUE(model->extend(*work->kv, work->context_ids, false, nullptr));
  ASSERT_TRUE(model->extend(*work->kv, work->question_ids, true, nullptr));
  work->draft.ttft_ns = 10;
  work->draft.parts.queue_ns = 4;
  work->draft.parts.recompute_ns = 6;
  EXPECT_TRUE(check_prefilled(*work));
  work->draft.parts.recompute_ns = 7;
  EXPECT_FALSE(check_prefilled(*work));
  work->draft.parts.recompute_ns = 6;
  work->draft.tokens->missed -= 1;
  EXPECT_FALSE(check_prefilled(*work));
}
