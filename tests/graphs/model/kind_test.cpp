#include "graphs/model/kind.hpp"

#include <gtest/gtest.h>

namespace kvloom::graphs {
namespace {

TEST(kind_catalogue, keeps_the_first_of_a_name) {
  kind_catalogue kinds;
  actor_kind one;
  one.name = "a";
  one.help = "first";
  EXPECT_TRUE(kinds.add(one));
  one.help = "second";
  EXPECT_FALSE(kinds.add(one));
  EXPECT_EQ(kinds.find("a")->help, "first");
  EXPECT_EQ(kinds.find("b"), nullptr);
  EXPECT_EQ(kinds.all().size(), 1U);
}

} // namespace
} // namespace kvloom::graphs
