#include "core/base/random.hpp"
#include "storage/policy/eviction_policy.hpp"
#include "tests/storage/policy/naive_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kvloom::storage {
namespace {

std::unique_ptr<eviction_policy> make(std::string_view name) {
  auto made = make_eviction_policy(name);
  EXPECT_TRUE(made) << name;
  return std::move(*made);
}

bool any(entry_id) {
  return true;
}

/// All victims in order, each erased before the next is asked for.
std::vector<entry_id> drain(eviction_policy& policy) {
  std::vector<entry_id> order;
  while (const auto next = policy.victim(any)) {
    order.push_back(*next);
    policy.erased(*next);
  }
  return order;
}

using testing::ElementsAre;

TEST(eviction_policy, every_name_makes_a_policy_of_that_name) {
  for (const auto name : eviction_policy_names())
    EXPECT_EQ(make(name)->name(), name);
}

TEST(eviction_policy, unknown_names_are_refused_and_the_known_listed) {
  for (const auto* name : {"", "LRU", "lru ", "look_ahead+", "look_aheadlru",
                           "look_ahead+look_ahead", "belady"}) {
    const auto made = make_eviction_policy(name);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, errc::bad_input);
    EXPECT_THAT(made.error().message, testing::HasSubstr("look_ahead+pgdsf"));
  }
}

TEST(eviction_policy, fifo_goes_by_age_whatever_is_used) {
  const auto policy = make("fifo");
  for (entry_id id : {3, 1, 2}) policy->inserted(id, {10, 0});
  policy->used(3, 0);
  EXPECT_THAT(drain(*policy), ElementsAre(3, 1, 2));
}

TEST(eviction_policy, lru_goes_by_the_last_use) {
  const auto policy = make("lru");
  for (entry_id id : {3, 1, 2}) policy->inserted(id, {10, 0});
  policy->used(3, 0);
  policy->used(1, 0);
  EXPECT_THAT(drain(*policy), ElementsAre(2, 3, 1));
}

TEST(eviction_policy, lfu_goes_by_uses_then_by_age) {
  const auto policy = make("lfu");
  for (entry_id id : {4, 3, 2, 1}) policy->inserted(id, {10, 0});
  policy->used(4, 0);
  policy->used(2, 0);
  policy->used(2, 0);
  EXPECT_THAT(drain(*policy), ElementsAre(3, 1, 4, 2));
}

TEST(eviction_policy, gdsf_lets_the_large_go_first) {
  const auto policy = make("gdsf");
  policy->inserted(1, {100, 9});
  policy->inserted(2, {1000, 9});
  policy->inserted(3, {10, 9});
  EXPECT_THAT(drain(*policy), ElementsAre(2, 1, 3));
}

TEST(eviction_policy, the_clock_of_gdsf_ages_what_is_not_used) {
  const auto policy = make("gdsf");
  policy->inserted(1, {4, 0});
  policy->used(1, 0); // 2/4
  for (entry_id id = 2; id < 5; ++id) {
    policy->inserted(id, {8, 0}); // clock + 1/8
    EXPECT_EQ(policy->victim(any), id);
    policy->erased(id);
  }
  policy->inserted(5, {8, 0}); // clock is 3/8: as good as 1, but younger
  EXPECT_EQ(policy->victim(any), 1u);
}

TEST(eviction_policy, what_leaves_without_being_a_victim_moves_no_clock) {
  const auto policy = make("gdsf");
  policy->inserted(1, {4, 0});
  policy->inserted(2, {1, 0});
  policy->erased(2);
  policy->inserted(3, {8, 0});
  EXPECT_EQ(policy->victim(any), 3u);
}

TEST(eviction_policy, pgdsf_goes_by_the_mean_of_the_measured_seconds) {
  const auto policy = make("pgdsf");
  policy->inserted(1, {10, 4.0});
  policy->inserted(2, {10, 1.0});
  policy->used(1, 1.0); // 2 * 2.5 / 10
  policy->used(2, 0);   // 2 * 1 / 10, not measured
  policy->inserted(3, {10, 3.0});
  EXPECT_THAT(drain(*policy), ElementsAre(2, 3, 1));
}

TEST(eviction_policy, pgdsf_takes_the_mean_rate_where_nothing_was_measured) {
  const auto policy = make("pgdsf");
  policy->inserted(1, {10, 1.0}); // 0.1 s a byte
  policy->inserted(2, {20, 6.0}); // 0.3
  policy->inserted(3, {40, 0});   // 0.2
  EXPECT_THAT(drain(*policy), ElementsAre(1, 3, 2));
}

TEST(eviction_policy, look_ahead_keeps_what_is_queued) {
  const auto policy = make("look_ahead");
  for (entry_id id = 1; id <= 4; ++id) policy->inserted(id, {10, 0});
  policy->will_use(std::vector<entry_id>{2, 1, 77, 2});
  EXPECT_THAT(drain(*policy), ElementsAre(3, 4, 1, 2));
}

TEST(eviction_policy, will_use_replaces_what_was_told_before) {
  const auto policy = make("look_ahead+fifo");
  for (entry_id id = 1; id <= 3; ++id) policy->inserted(id, {10, 0});
  policy->will_use(std::vector<entry_id>{1, 2});
  policy->will_use(std::vector<entry_id>{3, 2});
  EXPECT_THAT(drain(*policy), ElementsAre(1, 2, 3));
}

TEST(eviction_policy, next_use_tells_of_one_entry) {
  const auto policy = make("look_ahead+lru");
  for (entry_id id = 1; id <= 4; ++id) policy->inserted(id, {10, 0});
  policy->next_use(1, 8);
  policy->next_use(2, 9);
  policy->next_use(3, 7);
  policy->next_use(3, std::nullopt);
  policy->next_use(99, 1);
  EXPECT_THAT(drain(*policy), ElementsAre(3, 4, 2, 1));
}

TEST(eviction_policy, without_look_ahead_nobody_listens_to_the_queue) {
  const auto policy = make("fifo");
  for (entry_id id = 1; id <= 3; ++id) policy->inserted(id, {10, 0});
  policy->will_use(std::vector<entry_id>{1});
  policy->next_use(2, 3);
  EXPECT_THAT(drain(*policy), ElementsAre(1, 2, 3));
}

class every_policy : public testing::TestWithParam<std::string_view> {};

TEST_P(every_policy, knows_no_victim_where_none_is_or_may_go) {
  const auto policy = make(GetParam());
  EXPECT_EQ(policy->victim(any), std::nullopt);
  policy->inserted(1, {10, 1});
  EXPECT_EQ(policy->victim([](entry_id) { return false; }), std::nullopt);
  EXPECT_EQ(policy->victim(any), 1u);
  policy->erased(1);
  EXPECT_EQ(policy->victim(any), std::nullopt);
}

TEST_P(every_policy, ignores_ids_that_it_does_not_know) {
  const auto policy = make(GetParam());
  policy->used(5, 1.0);
  policy->erased(5);
  policy->will_use(std::vector<entry_id>{5});
  policy->next_use(5, 1);
  EXPECT_EQ(policy->victim(any), std::nullopt);
  policy->inserted(1, {10, 1});
  policy->erased(5);
  EXPECT_EQ(policy->victim(any), 1u);
}

TEST_P(every_policy, gives_the_same_victim_until_it_is_erased) {
  const auto policy = make(GetParam());
  for (entry_id id = 1; id <= 9; ++id) policy->inserted(id, {10, 1});
  const auto first = policy->victim(any);
  EXPECT_EQ(policy->victim(any), first);
}

/// Random operations with few sizes, costs and ids, so that ties are common;
/// the victims are those of the definitions, and always such as may go.
TEST_P(every_policy, agrees_with_its_definition) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    random_stream draw(seed, "policy");
    const auto policy = make(GetParam());
    naive_policy oracle(GetParam());
    std::set<entry_id> held, leased;
    const auto may_go = [&](entry_id id) { return leased.count(id) == 0; };
    for (int step = 0; step < 600; ++step) {
      const entry_id id = draw.below(24);
      const auto seconds = static_cast<double>(draw.below(3));
      switch (draw.below(8)) {
      case 0:
      case 1: {
        const entry_facts facts{std::int64_t{1} << draw.below(3), seconds};
        policy->inserted(id, facts);
        oracle.inserted(id, facts);
        held.insert(id);
        break;
      }
      case 2:
      case 3:
        policy->used(id, seconds);
        oracle.used(id, seconds);
        break;
      case 4:
        if (!leased.insert(id).second) leased.erase(id);
        break;
      case 5:
        // One queue style a seed: the two are not to be mixed.
        if (seed % 2 == 0) {
          std::vector<entry_id> soon(draw.below(12));
          for (auto& one : soon) one = draw.below(24);
          policy->will_use(soon);
          oracle.will_use(soon);
        } else {
          std::optional<queue_turn> turn;
          if (draw.below(3) > 0) turn = draw.below(5);
          policy->next_use(id, turn);
          oracle.next_use(id, turn);
        }
        break;
      default: {
        const auto victim = policy->victim(may_go);
        ASSERT_EQ(victim, oracle.victim(may_go)) << "seed " << seed;
        if (!victim) break;
        ASSERT_TRUE(may_go(*victim));
        ASSERT_EQ(held.count(*victim), 1u);
        if (draw.below(4) == 0) break; // chosen, but it stays
        policy->erased(*victim);
        oracle.erased(*victim);
        held.erase(*victim);
      }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, every_policy,
                         testing::ValuesIn(eviction_policy_names().begin(),
                                           eviction_policy_names().end()),
                         [](const auto& one) {
                           std::string name(one.param);
                           for (auto& c : name)
                             if (c == '+') c = '_';
                           return name;
                         });

} // namespace
} // namespace kvloom::storage
