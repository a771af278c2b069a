#include "core/base/random.hpp"
#include "storage/simulate/simulated_tier.hpp"

#include <gtest/gtest.h>

namespace kvloom::storage {
namespace {

std::unique_ptr<eviction_policy> make(std::string_view name) {
  return std::move(*make_eviction_policy(name));
}

TEST(simulated_tier, refuses_on_entry_what_is_larger_than_it) {
  const std::vector<entry_facts> chunks{{5, 1}, {6, 1}};
  const auto policy = make("lru");
  simulated_tier tier(chunks, 5, *policy);
  EXPECT_EQ(tier.store(0), simulated_tier::outcome::stored);
  tier.release_all();
  EXPECT_EQ(tier.store(1), simulated_tier::outcome::too_large);
  EXPECT_TRUE(tier.stored(0));
  EXPECT_EQ(tier.evictions(), 0u);
}

TEST(simulated_tier, evicts_nothing_in_vain) {
  const std::vector<entry_facts> chunks{{4, 1}, {3, 1}, {5, 1}};
  const auto policy = make("lru");
  simulated_tier tier(chunks, 8, *policy);
  EXPECT_EQ(tier.store(0), simulated_tier::outcome::stored);
  EXPECT_EQ(tier.store(1), simulated_tier::outcome::stored);
  tier.release_all();
  EXPECT_TRUE(tier.use(0));
  EXPECT_EQ(tier.store(2), simulated_tier::outcome::no_room); // 4 are leased
  EXPECT_TRUE(tier.stored(1));
  tier.release_all();
  EXPECT_EQ(tier.store(2), simulated_tier::outcome::stored);
  EXPECT_FALSE(tier.stored(1)); // used before 0
  EXPECT_FALSE(tier.stored(0));
  EXPECT_EQ(tier.evicted_bytes(), 7);
}

TEST(simulated_tier, a_chunk_that_is_used_twice_is_leased_once) {
  const std::vector<entry_facts> chunks{{4, 1}};
  const auto policy = make("lru");
  simulated_tier tier(chunks, 8, *policy);
  EXPECT_FALSE(tier.use(0));
  tier.store(0);
  EXPECT_TRUE(tier.use(0));
  EXPECT_TRUE(tier.use(0));
  EXPECT_EQ(tier.leased_bytes(), 4);
  tier.release_all();
  EXPECT_EQ(tier.leased_bytes(), 0);
  EXPECT_EQ(tier.used_bytes(), 4);
}

class tier_of_every_policy : public testing::TestWithParam<std::string_view> {};

TEST_P(tier_of_every_policy, accounts_for_every_byte_and_keeps_what_is_leased) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random_stream draw(seed, "tier");
    std::vector<entry_facts> chunks(30);
    for (auto& one : chunks)
      one = {static_cast<std::int64_t>(1 + draw.below(12)), draw.uniform()};
    const auto policy = make(GetParam());
    const auto capacity = static_cast<std::int64_t>(4 + draw.below(60));
    simulated_tier tier(chunks, capacity, *policy);
    std::vector<char> must_stay(chunks.size(), 0);
    for (int step = 0; step < 2000; ++step) {
      const auto chunk = static_cast<std::uint32_t>(draw.below(chunks.size()));
      if (draw.below(6) == 0) {
        tier.release_all();
        must_stay.assign(chunks.size(), 0);
      } else if (draw.below(6) == 0) {
        policy->next_use(chunk, draw.below(100));
      } else if (tier.use(chunk)
                 || tier.store(chunk) == simulated_tier::outcome::stored) {
        must_stay[chunk] = 1;
      }
      std::int64_t stored = 0, leased = 0;
      for (std::uint32_t i = 0; i < chunks.size(); ++i) {
        if (tier.stored(i)) stored += chunks[i].bytes;
        if (tier.leased(i)) leased += chunks[i].bytes;
        ASSERT_EQ(tier.leased(i), must_stay[i] == 1);
      }
      ASSERT_EQ(tier.leased_bytes(), leased);
      ASSERT_EQ(tier.used_bytes() + tier.leased_bytes(), stored);
      ASSERT_GE(tier.free_bytes(), 0);
      ASSERT_EQ(tier.free_bytes() + tier.used_bytes() + tier.leased_bytes(),
                capacity);
      ASSERT_EQ(tier.written_bytes() - tier.evicted_bytes(), stored);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, tier_of_every_policy,
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
