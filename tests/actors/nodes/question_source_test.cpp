#include "actors/nodes/question_source.hpp"
#include "tests/actors/run_plans.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

std::vector<std::string> ids_of(const request_plan& plan) {
  std::vector<std::string> ids;
  for (const auto& one : *plan) ids.push_back(one.asked->id);
  return ids;
}

} // namespace

TEST(plan_requests, repeats_the_data_after_the_warmups) {
  const auto plan = plan_requests(some_questions(3), {false, 0, 2, 4});
  EXPECT_EQ(ids_of(plan),
            (std::vector<std::string>{"q0", "q1", "q2", "q0", "q0", "q1", "q2",
                                      "q0", "q1", "q2"}));
  for (std::size_t i = 0; i < plan->size(); ++i) {
    EXPECT_EQ((*plan)[i].sequence, i);
    EXPECT_EQ((*plan)[i].warmup, i < 4);
    EXPECT_EQ((*plan)[i].repeat, i < 7 ? 0u : 1u);
  }
}

TEST(plan_requests, a_shuffle_depends_on_the_seed_alone) {
  const auto data = some_questions(50);
  const auto one = ids_of(plan_requests(data, {true, 7, 1, 0}));
  EXPECT_EQ(one, ids_of(plan_requests(data, {true, 7, 1, 0})));
  EXPECT_NE(one, ids_of(plan_requests(data, {true, 8, 1, 0})));
  EXPECT_NE(one, ids_of(plan_requests(data, {false, 7, 1, 0})));
  EXPECT_EQ(std::set<std::string>(one.begin(), one.end()).size(), 50u);
}

TEST(plan_requests, a_limit_cuts_the_order_and_not_the_file) {
  const auto data = some_questions(50);
  const auto all = ids_of(plan_requests(data, {true, 7, 1, 0}));
  const auto some = ids_of(plan_requests(data, {true, 7, 1, 0, 10, 5}));
  EXPECT_EQ(some, std::vector<std::string>(all.begin() + 10, all.begin() + 15));
  EXPECT_TRUE(plan_requests(data, {true, 7, 1, 0, 60, 5})->empty());
}

TEST(emission, keeps_to_its_bound) {
  emission source(plan_requests(some_questions(3), {}), 2, 1000);
  ASSERT_TRUE(source.may_emit());
  const auto first = source.next(10);
  EXPECT_EQ(first->emitted_ns, 10);
  EXPECT_EQ(first->deadline_ns, 1010);
  source.next(11);
  EXPECT_FALSE(source.may_emit());
  source.finished(0);
  source.finished(0);  // twice
  source.finished(99); // unknown
  EXPECT_EQ(source.open(), 1u);
  ASSERT_TRUE(source.may_emit());
  source.next(12);
  EXPECT_TRUE(source.exhausted());
}

TEST(emission, waits_for_the_warmups_before_it_measures) {
  emission source(plan_requests(some_questions(3), {false, 0, 1, 2}), 0, 1000);
  source.next(1);
  ASSERT_TRUE(source.may_emit());
  source.next(2);
  EXPECT_FALSE(source.may_emit());
  source.finished(1);
  EXPECT_FALSE(source.may_emit());
  source.finished(0);
  EXPECT_TRUE(source.may_emit());
}

TEST(emission, halts) {
  emission source(plan_requests(some_questions(3), {}), 0, 1000);
  source.next(1);
  source.halt();
  EXPECT_FALSE(source.may_emit());
  EXPECT_TRUE(source.exhausted());
}
