#include "core/base/random.hpp"
#include "storage/policy/entry_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kvloom::storage {
namespace {

TEST(entry_heap, first_is_the_least_key_that_may_go) {
  random_stream draw(1, "heap");
  entry_heap heap;
  std::map<std::uint32_t, entry_key> oracle;
  std::set<entry_id> kept;
  const auto may_go = [&](entry_id id) { return kept.count(id) == 0; };
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(draw.below(60));
    const entry_key key{static_cast<double>(draw.below(8)), step};
    if (oracle.count(slot) == 0) {
      heap.push(slot, slot + 1000, key);
      oracle[slot] = key;
    } else if (draw.below(2) == 0) {
      heap.move(slot, key);
      oracle[slot] = key;
    } else {
      heap.erase(slot);
      oracle.erase(slot);
    }
    if (const entry_id id = draw.below(60) + 1000; !kept.insert(id).second)
      kept.erase(id);

    std::optional<std::uint32_t> least;
    for (const auto& [one, its] : oracle)
      if (may_go(one + 1000) && (!least || its < oracle[*least])) least = one;
    ASSERT_EQ(heap.first(may_go), least) << step;
    ASSERT_EQ(heap.size(), oracle.size());
  }
}

TEST(entry_heap, looks_at_little_more_than_what_may_not_go) {
  entry_heap heap;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    heap.push(i, i, {static_cast<double>(i), i});
  int asked = 0;
  const auto found = heap.first([&](entry_id id) {
    ++asked;
    return id >= 50;
  });
  EXPECT_EQ(found, 50u);
  EXPECT_EQ(asked, 51);
}

TEST(entry_heap, is_empty_when_all_are_out) {
  entry_heap heap;
  heap.push(7, 1, {1, 1});
  heap.erase(7);
  EXPECT_EQ(heap.size(), 0u);
  EXPECT_EQ(heap.first([](entry_id) { return true; }), std::nullopt);
}

} // namespace
} // namespace kvloom::storage
