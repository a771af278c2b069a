#include "actors/support/credit.hpp"
#include "core/base/random.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;

TEST(credit_window, sends_only_against_credit) {
  credit_window window;
  EXPECT_FALSE(window.take());
  window.grant(2);
  EXPECT_TRUE(window.take());
  EXPECT_TRUE(window.take());
  EXPECT_FALSE(window.take());
  EXPECT_EQ(window.sent(), 2u);
}

TEST(credit_window, sends_nothing_after_the_end) {
  credit_window window;
  window.grant(5);
  window.end();
  EXPECT_FALSE(window.take());
  EXPECT_EQ(window.available(), 5u);
}

TEST(credit_ledger, opens_once) {
  credit_ledger ledger(3);
  EXPECT_EQ(ledger.open(), 3u);
  EXPECT_EQ(ledger.open(), 0u);
}

TEST(credit_ledger, notices_who_sends_too_much) {
  credit_ledger ledger(1);
  EXPECT_FALSE(ledger.received());
  ledger.open();
  EXPECT_TRUE(ledger.received());
  EXPECT_FALSE(ledger.received());
  EXPECT_TRUE(ledger.finished());
  EXPECT_FALSE(ledger.finished());
  EXPECT_TRUE(ledger.received());
  ledger.end();
  EXPECT_FALSE(ledger.received());
}

TEST(credit_ledger, gives_no_credit_after_the_end) {
  credit_ledger ledger(2);
  ledger.open();
  ASSERT_TRUE(ledger.received());
  ledger.end();
  EXPECT_EQ(ledger.finished().value(), 0u);
}

// Producer and consumer with every message delayed at random: credit is
// conserved, and never more than the window is under way.
TEST(credit, is_conserved_in_any_order_of_messages) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    random_stream random(seed, "credit");
    const auto window = static_cast<std::uint32_t>(1 + random.below(6));
    credit_ledger consumer(window);
    credit_window producer;
    std::uint64_t credit_under_way = consumer.open();
    std::uint64_t items_under_way = 0;
    constexpr std::uint64_t n = 300;
    for (std::uint64_t done = 0; done < n;) {
      switch (random.below(4)) {
      case 0:
        if (producer.sent() < n && producer.take()) ++items_under_way;
        break;
      case 1:
        if (items_under_way > 0) {
          --items_under_way;
          ASSERT_TRUE(consumer.received());
        }
        break;
      case 2:
        if (consumer.in_flight() > 0) {
          const auto back = consumer.finished();
          ASSERT_TRUE(back);
          credit_under_way += *back;
          ++done;
        }
        break;
      default:
        if (credit_under_way > 0) {
          --credit_under_way;
          producer.grant(1);
        }
      }
      ASSERT_LE(items_under_way + consumer.in_flight(), window);
      ASSERT_EQ(producer.available() + credit_under_way + items_under_way
                    + consumer.in_flight(),
                window);
    }
  }
}
