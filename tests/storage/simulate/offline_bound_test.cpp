#include "storage/simulate/offline_bound.hpp"
#include "storage/simulate/simulate.hpp"
#include "tests/storage/simulate/random_trace.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kvloom::storage {
namespace {

/// The optimum by trying everything: for every set of chunks that may lie in
/// the store between two requests, the most that can have been saved so far.
double best_of_all(const workload& work, std::int64_t capacity_bytes) {
  const auto n = work.chunks.size();
  const auto fits = [&](unsigned set) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < n; ++i)
      if ((set >> i & 1) != 0) bytes += work.chunks[i].bytes;
    return bytes <= capacity_bytes;
  };
  std::map<unsigned, double> saved{{0u, 0.0}};
  double best = 0;
  for (std::size_t r = 0; r < work.n_requests(); ++r) {
    unsigned used = 0;
    for (auto use = work.begin(r); use < work.end(r); ++use)
      used |= 1u << work.requests.uses[use];
    std::map<unsigned, double> next;
    for (const auto& [set, so_far] : saved) {
      auto now = so_far;
      for (std::size_t i = 0; i < n; ++i)
        if ((set & used) >> i & 1) now += work.chunks[i].recompute_s;
      best = std::max(best, now);
      const auto all = set | used;
      for (auto kept = all;; kept = (kept - 1) & all) {
        if (fits(kept)) {
          auto& known = next.try_emplace(kept, now).first->second;
          known = std::max(known, now);
        }
        if (kept == 0) break;
      }
    }
    saved = std::move(next);
  }
  return best;
}

void expect_no_policy_above(const workload& work, std::int64_t capacity,
                            double bound) {
  for (const auto name : eviction_policy_names()) {
    for (const std::uint64_t look_ahead : {0, 2, 1000}) {
      const auto policy = make_eviction_policy(name);
      const auto done = simulate(work, **policy, {capacity, look_ahead});
      EXPECT_LE(done.saved_s, bound * (1 + 1e-9)) << name;
    }
  }
}

TEST(offline_bound, is_the_optimum_for_chunks_of_one_size_and_cost) {
  int belady = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto work = random_work({}, seed);
    const auto capacity = static_cast<std::int64_t>(seed % 5);
    const auto bound = bound_saved_seconds(work, capacity);
    EXPECT_NE(bound.kind, bound_kind::relaxation);
    belady += bound.kind == bound_kind::belady ? 1 : 0;
    EXPECT_DOUBLE_EQ(bound.saved_s, best_of_all(work, capacity)) << seed;
    expect_no_policy_above(work, capacity, bound.saved_s);
  }
  EXPECT_GT(belady, 50);
}

TEST(offline_bound, is_never_below_the_optimum_for_chunks_of_many_sizes) {
  int relaxed = 0;
  double optimum = 0, bounds = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    random_shape shape;
    shape.chunks = 7;
    shape.requests = 16;
    shape.tokens = 5;
    shape.quadratic_s = seed % 2 == 0 ? 0 : 0.5;
    const auto work = random_work(shape, seed);
    const auto capacity = static_cast<std::int64_t>(1 + seed % 14);
    const auto bound = bound_saved_seconds(work, capacity);
    const auto best = best_of_all(work, capacity);
    EXPECT_GE(bound.saved_s, best * (1 - 1e-12)) << seed;
    expect_no_policy_above(work, capacity, bound.saved_s);
    if (bound.kind != bound_kind::relaxation) {
      EXPECT_NEAR(bound.saved_s, best, 1e-9) << seed;
      continue;
    }
    ++relaxed;
    optimum += best;
    bounds += bound.saved_s;
  }
  EXPECT_GT(relaxed, 150);
  // Not only true but of use: not far above, even on traces as small as these.
  EXPECT_LT(bounds, 1.25 * optimum);
}

TEST(offline_bound, holds_on_traces_of_many_blocks) {
  // More requests than blocks of prices, so that a block has several gaps.
  random_shape shape;
  shape.chunks = 80;
  shape.requests = 3000;
  shape.in_request = 6;
  shape.tokens = 9;
  const auto work = random_work(shape, 7);
  for (const std::int64_t capacity : {20, 60, 150, 300}) {
    const auto bound = bound_saved_seconds(work, capacity);
    expect_no_policy_above(work, capacity, bound.saved_s);
    // Where a request's own chunks, which can't be declined, fill the store,
    // nobody comes near.
    if (capacity < 100) continue;
    const auto policy = make_eviction_policy("look_ahead+pgdsf");
    const auto done = simulate(work, **policy, {capacity, 100'000});
    EXPECT_GE(done.saved_s, 0.9 * bound.saved_s) << capacity;
  }
}

TEST(offline_bound, grows_with_the_capacity_up_to_every_reuse) {
  random_shape shape;
  shape.chunks = 40;
  shape.requests = 500;
  shape.tokens = 9;
  const auto work = random_work(shape, 3);
  double last = 0;
  for (std::int64_t capacity = 1; capacity < 400; capacity += 13) {
    const auto bound = bound_saved_seconds(work, capacity);
    // The relaxation is no exact minimum, so it may waver a little.
    EXPECT_GE(bound.saved_s, last * 0.995) << capacity;
    last = bound.saved_s;
  }
  const auto all = bound_saved_seconds(work, 400);
  EXPECT_EQ(all.kind, bound_kind::every_reuse);
  const auto policy = make_eviction_policy("fifo");
  EXPECT_NEAR(simulate(work, **policy, {400, 0}).saved_s, all.saved_s, 1e-9);
}

TEST(offline_bound, is_nothing_where_nothing_fits_or_comes_again) {
  const auto work = random_work({}, 1);
  EXPECT_EQ(bound_saved_seconds(work, 0).saved_s, 0);
  trace once;
  once.tokens = {1, 1};
  once.uses = {0, 1};
  once.first_use = {0, 1, 2};
  const auto no_reuse = make_workload(once, {1, 1.0, 0});
  EXPECT_EQ(bound_saved_seconds(*no_reuse, 5).saved_s, 0);
}

} // namespace
} // namespace kvloom::storage
