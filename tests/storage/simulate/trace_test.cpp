#include "storage/simulate/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::storage {
namespace {

using testing::ElementsAre;

TEST(workload, links_each_use_to_its_neighbours) {
  trace given;
  given.tokens = {2, 3};
  given.uses = {0, 1, 0, 1, 0};
  given.first_use = {0, 2, 3, 3, 5};
  const auto work = make_workload(given, {10, 2.0, 0.5});
  ASSERT_TRUE(work);
  EXPECT_THAT(work->previous, ElementsAre(never, never, 0, 0, 1));
  EXPECT_THAT(work->next, ElementsAre(1, 3, 3, never, never));
  EXPECT_EQ(work->chunks[1].bytes, 30);
  EXPECT_DOUBLE_EQ(work->chunks[1].recompute_s, 1.5 + 4.5);
}

TEST(workload, refuses_more_bytes_than_can_be_counted) {
  trace given;
  given.tokens = {std::int64_t{1} << 40};
  given.uses = {0};
  given.first_use = {0, 1};
  const auto work = make_workload(given, {std::int64_t{1} << 30, 1, 0});
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error().code, errc::bad_input);
}

} // namespace
} // namespace kvloom::storage
