#include "core/record/request_result.hpp"

#include <gtest/gtest.h>

namespace kvloom {
namespace {

TEST(request_result, time_per_token_needs_two_tokens) {
  request_result one;
  EXPECT_FALSE(one.tpot_ns().has_value());
  one.itl_ns = {10, 20, 60};
  EXPECT_DOUBLE_EQ(one.tpot_ns().value(), 30);
}

TEST(request_result, parts_add_up) {
  ttft_parts parts;
  EXPECT_EQ(parts.sum_ns(), 0);
  parts.queue_ns = 1;
  parts.recompute_ns = 20;
  parts.question_ns = 300;
  parts.sample_ns = 4000;
  EXPECT_EQ(parts.sum_ns(), 4321);
}

TEST(token_account, closes_only_when_every_token_is_counted_once) {
  token_account account;
  account.prompt = 10;
  account.missed = 7;
  account.prefix_hit = 3;
  EXPECT_TRUE(account.closes());
  account.recomputed = 1;
  EXPECT_FALSE(account.closes());
}

} // namespace
} // namespace kvloom
