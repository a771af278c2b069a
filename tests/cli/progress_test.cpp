#include "cli/progress.hpp"

#include <gtest/gtest.h>

namespace kvloom::cli {
namespace {

TEST(progress_text, has_no_rate_before_the_first_request) {
  EXPECT_EQ(progress_text(0, 0, 24, 0), "0/24");
}

TEST(progress_text, gives_rate_and_time_left) {
  EXPECT_EQ(progress_text(10, 0, 30, 2), "10/30, 2.00/s, 10 s left");
  EXPECT_EQ(progress_text(60, 0, 60'060, 60), "60/60060, 60/s, 17 min left");
}

TEST(progress_text, names_failures_and_no_time_left_at_the_end) {
  EXPECT_EQ(progress_text(24, 3, 24, 0.5), "24/24 (3 failed), 0.50/s");
}

} // namespace
} // namespace kvloom::cli
