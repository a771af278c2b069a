#include "actors/nodes/prefiller.hpp"
#include "actors/support/model_owner.hpp"
#include "core/base/clock.hpp"
#include "tests/actors/run_plans.hpp"
#include "tests/actors/scripted_model.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

struct owner_test : testing::Test {
  std::shared_ptr<datasets::dataset> data = some_questions(4);
  std::shared_ptr<model_demand> demand = std::make_shared<model_demand>();
  std::atomic<bool> stop{false};
  std::shared_ptr<scripted_model> model;
  std::unique_ptr<model_work> work;

  void use(scripted_options options = {}, first_token_options first = {}) {
    model = std::make_shared<scripted_model>(std::move(options));
    work = std::make_unique<model_work>(model, demand, &stop, first);
  }

  running_request_ptr prompt(std::size_t place,
                             std::int64_t deadline_ns = 60'000'000'000) {
    retrieved asked;
    asked.request = a_request(data, place, deadline_ns);
    const auto& question = data->questions[place];
    for (const auto& one : question.passages)
      asked.passages.emplace_back(data, &one);
    asked.sent_ns = now_ns();
    prefiller_options options;
    options.answer_tokens = 16;
    return prompt_maker(model, options).make(asked).value();
  }

  running_request_ptr prefilled_one(std::size_t place) {
    auto one = prompt(place);
    EXPECT_TRUE(work->prefill(*one));
    one->answer = model->new_answer(16, {});
    one->token_ns = {one->first_token_ns};
    one->last_token = one->first_token;
    one->complete = one->answer->push(one->first_token);
    return one;
  }

  std::string expected(std::size_t place, std::int64_t tokens = 16) const {
    const auto& question = data->questions[place];
    std::vector<std::string> texts;
    for (const auto& one : question.passages) texts.push_back(one.text);
    return model->expected_answer(scripted_prompt(question, texts), tokens);
  }
};

} // namespace

TEST_F(owner_test, parts_of_ttft_add_up_to_the_nanosecond) {
  scripted_options slow;
  slow.prefill_time = std::chrono::milliseconds(2);
  use(slow, {.first_logits = 3});
  auto one = prompt(0);
  one->entered_ns -= 1000; // waited before
  ASSERT_TRUE(work->prefill(*one));
  const auto& parts = one->draft.parts;
  EXPECT_EQ(parts.sum_ns(), one->draft.ttft_ns);
  EXPECT_EQ(one->first_token_ns - one->entered_ns, one->draft.ttft_ns);
  for (const auto& part :
       {parts.queue_ns, parts.tokenize_ns, parts.recompute_ns,
        parts.question_ns, parts.sample_ns}) {
    ASSERT_TRUE(part);
    EXPECT_GE(*part, 0);
  }
  EXPECT_GE(*parts.queue_ns, 1000);
  EXPECT_GE(*parts.question_ns, 2'000'000);
  EXPECT_FALSE(parts.retrieve_ns);
  EXPECT_FALSE(parts.lookup_ns);
  EXPECT_EQ(one->draft.first_logits.size(), 3u);
  EXPECT_TRUE(check_prefilled(*one));
}

TEST_F(owner_test, rows_that_step_together_get_their_own_answers) {
  use();
  decode_turn turn;
  for (std::size_t i = 0; i < 4; ++i) turn.rows.push_back(prefilled_one(i));
  ASSERT_TRUE(work->decode(turn));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& row = *turn.rows[i];
    EXPECT_TRUE(row.complete);
    EXPECT_EQ(row.answer->text(), expected(i));
    EXPECT_EQ(row.answer->ids().size(), 5u); // the end token is counted
    EXPECT_EQ(row.token_ns.size(), 5u);
  }
  EXPECT_EQ(model->largest_batch, 4);
}

TEST_F(owner_test, a_turn_comes_back_when_it_should) {
  scripted_options options;
  options.answer_tokens = 100;
  use(options);
  decode_turn turn;
  turn.rows = {prefilled_one(0)};
  turn.give_way = std::make_shared<std::atomic<bool>>(true);
  ASSERT_TRUE(work->decode(turn));
  EXPECT_EQ(turn.rows[0]->answer->ids().size(), 2u); // one step
  *turn.give_way = false;
  turn.most_steps = 3;
  demand->prefills_waiting = 1;
  ASSERT_TRUE(work->decode(turn));
  EXPECT_EQ(turn.rows[0]->answer->ids().size(), 5u); // three more
  demand->prefills_waiting = 0;
  ASSERT_TRUE(work->decode(turn));
  EXPECT_TRUE(turn.rows[0]->complete); // nobody waits: to the end
}

TEST_F(owner_test, a_row_past_its_deadline_fails_alone) {
  use();
  decode_turn turn;
  turn.rows = {prefilled_one(0), prefilled_one(1)};
  auto late = *turn.rows[0]->request;
  late.deadline_ns = now_ns() - 1;
  turn.rows[0]->request = std::make_shared<const open_request>(late);
  ASSERT_TRUE(work->decode(turn));
  ASSERT_TRUE(turn.rows[0]->failure);
  EXPECT_EQ(turn.rows[0]->failure->code, errc::deadline);
  EXPECT_FALSE(turn.rows[1]->failure);
}

TEST_F(owner_test, stop_ends_every_call) {
  use();
  auto begun = prefilled_one(0);
  stop = true;
  EXPECT_EQ(work->prefill(*prompt(1)).error().code, errc::cancelled);
  decode_turn turn;
  turn.rows = {begun};
  EXPECT_EQ(work->decode(turn).error().code, errc::cancelled);
}

TEST_F(owner_test, errors_of_the_model_come_out) {
  scripted_options options;
  options.on_prefill = [](const std::vector<token_id>&) -> result<void> {
    return fail(errc::environment, "out of memory");
  };
  use(options);
  EXPECT_EQ(work->prefill(*prompt(0)).error().message, "out of memory");
}
