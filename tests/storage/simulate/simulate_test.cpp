#include "storage/simulate/simulate.hpp"
#include "tests/storage/policy/naive_policy.hpp"
#include "tests/storage/simulate/random_trace.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kvloom::storage {
namespace {

/// Requests of single chunks, one byte and one second each.
workload single(const std::vector<std::uint32_t>& chunks) {
  trace out;
  for (const auto chunk : chunks) {
    while (out.tokens.size() <= chunk) out.tokens.push_back(1);
    out.uses.push_back(chunk);
    out.first_use.push_back(out.uses.size());
  }
  return std::move(*make_workload(out, {1, 1.0, 0}));
}

simulation_result run(const workload& work, std::string_view name,
                      std::int64_t capacity, std::uint64_t look_ahead = 0) {
  const auto policy = make_eviction_policy(name);
  return simulate(work, **policy, {capacity, look_ahead});
}

TEST(simulate, lru_counts_what_one_counts_by_hand) {
  // Two places: 0 1 0* 2(-1) 0* 1(-2) 2(-0)
  const auto done = run(single({0, 1, 0, 2, 0, 1, 2}), "lru", 2);
  EXPECT_EQ(done.requests, 7u);
  EXPECT_EQ(done.uses, 7u);
  EXPECT_EQ(done.hits, 2u);
  EXPECT_EQ(done.requests_all_hit, 2u);
  EXPECT_EQ(done.evictions, 3u);
  EXPECT_EQ(done.written_bytes, 5);
  EXPECT_DOUBLE_EQ(done.saved_s, 2);
  EXPECT_DOUBLE_EQ(done.total_s, 7);
}

TEST(simulate, a_walk_in_circles_gives_lru_nothing_and_look_ahead_much) {
  std::vector<std::uint32_t> circle;
  for (int i = 0; i < 40; ++i) circle.push_back(static_cast<unsigned>(i % 4));
  EXPECT_EQ(run(single(circle), "lru", 3).hits, 0u);
  EXPECT_GE(run(single(circle), "look_ahead+lru", 3, 8).hits, 24u);
}

TEST(simulate, hits_of_lru_only_grow_with_the_capacity) {
  const auto work = random_work({40, 400, 3, 1, 0}, 5);
  std::uint64_t last = 0;
  for (std::int64_t capacity = 3; capacity <= 40; ++capacity) {
    const auto hits = run(work, "lru", capacity).hits;
    EXPECT_GE(hits, last);
    last = hits;
  }
}

TEST(simulate, counts_what_it_could_not_store) {
  trace out;
  out.tokens = {9, 3, 3};
  out.uses = {0, 1, 2};
  out.first_use = {0, 3};
  const auto work = make_workload(out, {1, 1.0, 0});
  const auto done = run(*work, "lru", 5);
  EXPECT_EQ(done.too_large, 1u);
  EXPECT_EQ(done.no_room, 1u);
  EXPECT_EQ(done.written_bytes, 3);
}

TEST(simulate, a_request_without_chunks_is_no_hit) {
  trace out;
  out.first_use = {0, 0, 0};
  const auto work = make_workload(out, {1, 1.0, 0});
  const auto done = run(*work, "lru", 5);
  EXPECT_EQ(done.requests, 2u);
  EXPECT_EQ(done.requests_all_hit, 0u);
}

/// The simulation told slowly: maps, the naive policies, and at every request
/// the whole queue.
double naive_saved(const workload& work, std::string_view name,
                   std::int64_t capacity, std::uint64_t look_ahead) {
  naive_policy policy(name);
  std::map<entry_id, std::int64_t> stored;
  double saved = 0;
  for (std::size_t r = 0; r < work.n_requests(); ++r) {
    std::vector<std::uint32_t> misses;
    std::map<entry_id, bool> leased;
    // The nearest queued use of every stored chunk, by looking for it.
    const auto tell = [&] {
      for (const auto& [id, bytes] : stored) {
        std::optional<queue_turn> turn;
        for (auto q = r + 1; q < work.n_requests() && q <= r + look_ahead; ++q)
          for (auto use = work.begin(q); use < work.end(q); ++use)
            if (!turn && work.requests.uses[use] == id) turn = q;
        if (leased.count(id) > 0 || look_ahead > 0) policy.next_use(id, turn);
      }
    };
    for (auto use = work.begin(r); use < work.end(r); ++use) {
      const auto chunk = work.requests.uses[use];
      if (stored.count(chunk) == 0) {
        misses.push_back(chunk);
        continue;
      }
      saved += work.chunks[chunk].recompute_s;
      policy.used(chunk, 0);
      leased[chunk] = true;
    }
    tell();
    for (const auto chunk : misses) {
      const auto need = work.chunks[chunk].bytes;
      std::int64_t held = 0, kept = 0;
      for (const auto& [id, bytes] : stored) {
        held += bytes;
        if (leased.count(id) > 0) kept += bytes;
      }
      if (kept + need > capacity) continue;
      while (held + need > capacity) {
        const auto victim
            = policy.victim([&](entry_id id) { return leased.count(id) == 0; });
        held -= stored[*victim];
        stored.erase(*victim);
        policy.erased(*victim);
      }
      policy.inserted(chunk, work.chunks[chunk]);
      stored[chunk] = need;
      leased[chunk] = true;
      tell();
    }
  }
  return saved;
}

TEST(simulate, agrees_with_the_simulation_told_slowly) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const auto work = random_work({14, 80, 4, 3, 0.25}, seed);
    const auto capacity = static_cast<std::int64_t>(2 + seed);
    for (const auto name : eviction_policy_names()) {
      for (const std::uint64_t look_ahead : {0, 1, 5, 500}) {
        EXPECT_NEAR(run(work, name, capacity, look_ahead).saved_s,
                    naive_saved(work, name, capacity, look_ahead), 1e-9)
            << name << ", seed " << seed << ", look_ahead " << look_ahead;
      }
    }
  }
}

TEST(simulate, what_is_hit_and_what_is_missed_is_all) {
  const auto work = random_work({30, 300, 5, 7, 0}, 9);
  for (const auto name : eviction_policy_names()) {
    const auto done = run(work, name, 40, 10);
    EXPECT_EQ(done.tokens, done.bytes); // a byte a token
    EXPECT_EQ(done.hit_tokens, done.hit_bytes);
    EXPECT_EQ(done.uses, work.requests.uses.size());
    EXPECT_LE(done.evicted_bytes, done.written_bytes);
    EXPECT_EQ(done.written_bytes - done.evicted_bytes <= 40, true);
    EXPECT_GT(done.hits, 0u);
  }
}

TEST(simulate, the_same_run_twice_is_the_same) {
  const auto work = random_work({30, 300, 5, 7, 0}, 11);
  for (const auto name : eviction_policy_names()) {
    const auto one = run(work, name, 50, 7), two = run(work, name, 50, 7);
    EXPECT_EQ(one.saved_s, two.saved_s);
    EXPECT_EQ(one.evictions, two.evictions);
    EXPECT_EQ(one.evicted_bytes, two.evicted_bytes);
  }
}

} // namespace
} // namespace kvloom::storage
