#include "actors/nodes/decoder.hpp"
#include "tests/actors/run_plans.hpp"
#include "tests/actors/scripted_model.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

decoding a_decoding(std::uint32_t number) {
  auto work = std::make_shared<running_request>();
  work->last_token = static_cast<token_id>(number);
  return {work, edge_id{number}, nullptr};
}

std::vector<std::uint32_t> edges_of(const std::vector<decoding>& all) {
  std::vector<std::uint32_t> edges;
  for (const auto& one : all) edges.push_back(one.edge.value);
  return edges;
}

using numbers = std::vector<std::uint32_t>;

} // namespace

TEST(running_batch, serves_who_came_first) {
  running_batch batch(2);
  for (std::uint32_t i = 0; i < 4; ++i) batch.add(a_decoding(i));
  auto rows = batch.fill();
  EXPECT_EQ(edges_of(rows), (numbers{0, 1}));
  EXPECT_FALSE(batch.can_join());
  rows[0].work->complete = true;
  EXPECT_EQ(edges_of(batch.take_ended()), numbers{0});
  EXPECT_TRUE(batch.can_join());
  EXPECT_EQ(edges_of(batch.fill()), (numbers{1, 2}));
  rows[1].work->failure = error{};
  EXPECT_EQ(edges_of(batch.take_ended()), numbers{1});
  EXPECT_EQ(edges_of(batch.fill()), (numbers{2, 3}));
  EXPECT_EQ(edges_of(batch.take_rows()), (numbers{2, 3}));
  EXPECT_TRUE(batch.empty());
}

TEST(finished_result, has_every_gap_and_the_end_to_end_time) {
  const auto data = some_questions(1);
  scripted_model model({});
  running_request work;
  work.request = a_request(data, 0);
  work.draft = blank_result(work.request->plan);
  work.draft.tokens = token_account{};
  work.answer = model.new_answer(3, {});
  const auto begin = work.request->emitted_ns;
  for (const token_id id : {'a', 'b', 'c'})
    work.complete = work.answer->push(id);
  work.token_ns = {begin + 10, begin + 30, begin + 35};
  const auto line = finished_result(work);
  ASSERT_TRUE(line);
  EXPECT_TRUE((*line)->ok);
  EXPECT_EQ((*line)->answer, "abc");
  EXPECT_EQ((*line)->finish, finish_reason::length);
  EXPECT_EQ((*line)->itl_ns, (std::vector<std::int64_t>{20, 5}));
  EXPECT_EQ((*line)->e2e_ns, 35);
  EXPECT_EQ((*line)->tpot_ns(), 12.5);
  EXPECT_EQ((*line)->tokens->output, 3);
  work.token_ns.pop_back();
  EXPECT_FALSE(finished_result(work));
}

TEST(finished_result, one_token_has_no_gap) {
  const auto data = some_questions(1);
  scripted_model model({});
  running_request work;
  work.request = a_request(data, 0);
  work.answer = model.new_answer(1, {});
  work.complete = work.answer->push('a');
  work.token_ns = {work.request->emitted_ns + 10};
  const auto line = finished_result(work);
  ASSERT_TRUE(line);
  EXPECT_TRUE((*line)->itl_ns.empty());
  EXPECT_FALSE((*line)->tpot_ns());
}
