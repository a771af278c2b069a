#include "actors/support/stage.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/actors/run_plans.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

/// The test itself is producer, consumer, source, ledger and supervisor.
struct stage_test : actor_fixture {
  std::shared_ptr<datasets::dataset> data = some_questions(9);
  stage_actor<asked_question> node;

  void start(stage_function<asked_question, retrieved> work,
             std::uint32_t window) {
    node = spawn_stage<asked_question, retrieved>(system, std::move(work));
    const auto me = caf::actor_cast<caf::strong_actor_ptr>(self->address());
    self->send(node, link_out_atom_v, out_link{"out", {7}, me});
    self->send(node, link_in_atom_v, in_link{"in", {3}, window, me});
    self->send(node, begin_atom_v,
               run_links{caf::actor_cast<ledger_actor>(me),
                         caf::actor_cast<source_actor>(me),
                         caf::actor_cast<supervisor_actor>(me)});
    run();
  }

  void ask(std::size_t place, std::int64_t deadline_ns = 60'000'000'000) {
    self->send(node, item_atom_v, edge_id{3},
               asked_question{a_request(data, place, deadline_ns), 0});
    run();
  }

  void give(std::uint32_t n) {
    self->send(node, credit_atom_v, edge_id{7}, n);
    run();
  }

  std::uint32_t take_credit() {
    std::uint32_t got = 0;
    take([&](credit_atom, edge_id edge, std::uint32_t n) {
      EXPECT_EQ(edge.value, 3u);
      got = n;
    });
    return got;
  }

  std::string take_item() {
    std::string id;
    take([&](item_atom, edge_id edge, const retrieved& item) {
      EXPECT_EQ(edge.value, 7u);
      EXPECT_GT(item.sent_ns, 0);
      id = item.request->plan.asked->id;
    });
    return id;
  }

  request_failure take_failure() {
    request_failure got;
    take([&](failed_atom, const request_failure& failure) { got = failure; });
    return got;
  }

  ~stage_test() override {
    self->send_exit(node, caf::exit_reason::user_shutdown);
    run();
  }
};

result<retrieved> echo(const asked_question& asked) {
  retrieved out;
  out.request = asked.request;
  return out;
}

} // namespace

TEST_F(stage_test, holds_what_has_no_credit_and_keeps_the_order) {
  start(echo, 4);
  EXPECT_EQ(take_credit(), 4u);
  for (std::size_t i = 0; i < 4; ++i) ask(i);
  EXPECT_TRUE(mailbox_is_empty()); // nothing without credit, no credit back
  give(2);
  EXPECT_EQ(take_item(), "q0");
  EXPECT_EQ(take_credit(), 1u);
  EXPECT_EQ(take_item(), "q1");
  EXPECT_EQ(take_credit(), 1u);
  EXPECT_TRUE(mailbox_is_empty());
  give(9);
  EXPECT_EQ(take_item(), "q2");
  EXPECT_EQ(take_credit(), 1u);
  EXPECT_EQ(take_item(), "q3");
  EXPECT_EQ(take_credit(), 1u);
}

TEST_F(stage_test, the_end_comes_after_the_last_item) {
  start(echo, 4);
  take_credit();
  ask(0);
  self->send(node, end_atom_v, edge_id{3});
  run();
  EXPECT_TRUE(mailbox_is_empty());
  give(1);
  EXPECT_EQ(take_item(), "q0");
  take([&](end_atom, edge_id edge) { EXPECT_EQ(edge.value, 7u); });
  EXPECT_TRUE(mailbox_is_empty()); // no credit after the end
}

TEST_F(stage_test, an_error_fails_one_request) {
  start(
      [](const asked_question& asked) -> result<retrieved> {
        if (asked.request->plan.sequence == 0)
          return fail(errc::bad_input, "not this one");
        return echo(asked);
      },
      4);
  take_credit();
  give(4);
  ask(0);
  EXPECT_EQ(take_failure().why.message, "not this one");
  EXPECT_EQ(take_credit(), 1u);
  ask(1);
  EXPECT_EQ(take_item(), "q1");
  EXPECT_EQ(take_credit(), 1u);
}

TEST_F(stage_test, an_exception_fails_one_request) {
  start(
      [](const asked_question& asked) -> result<retrieved> {
        if (asked.request->plan.sequence == 0)
          throw std::runtime_error("a bug of the user's own");
        return echo(asked);
      },
      4);
  take_credit();
  give(4);
  ask(0);
  EXPECT_NE(take_failure().why.message.find("a bug of the user's own"),
            std::string::npos);
  EXPECT_EQ(take_credit(), 1u);
  ask(1);
  EXPECT_EQ(take_item(), "q1");
  EXPECT_EQ(take_credit(), 1u);
}

TEST_F(stage_test, what_is_late_is_not_worked_on) {
  bool called = false;
  start(
      [&](const asked_question& asked) {
        called = true;
        return echo(asked);
      },
      4);
  take_credit();
  give(4);
  ask(0, -1);
  EXPECT_EQ(take_failure().why.code, errc::deadline);
  EXPECT_EQ(take_credit(), 1u);
  EXPECT_FALSE(called);
}

TEST_F(stage_test, a_producer_that_breaks_the_rules_is_noticed) {
  start(echo, 1);
  take_credit();
  ask(0);
  ask(1); // without credit
  const auto failure = take_failure();
  EXPECT_EQ(failure.sequence, 1u);
  EXPECT_EQ(failure.why.code, errc::internal);
}
