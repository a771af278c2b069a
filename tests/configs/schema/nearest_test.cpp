#include "configs/schema/nearest.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

TEST(edit_distance, counts_edits_and_swaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("top_k", "topk"), 1U);
  EXPECT_EQ(edit_distance("mdoel", "model"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("TOP_K", "top_k"), 0U);
}

TEST(nearest, finds_the_misspelt_name) {
  const std::vector<std::string> known{"index", "top_k", "scope", "order"};
  EXPECT_EQ(nearest("topk", known), "top_k");
  EXPECT_EQ(nearest("ordre", known), "order");
  EXPECT_EQ(nearest("temperature", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), known), "");
}

TEST(hint, names_the_nearest_and_the_known) {
  EXPECT_EQ(hint("topk", "known keys", {"top_k", "order"}),
            "; did you mean `top_k`? known keys: top_k, order");
  EXPECT_EQ(hint("zzz", "known keys", {"top_k"}), "; known keys: top_k");
  EXPECT_EQ(hint("zzz", "inputs", {}), "; there are no inputs");
}

TEST(hint, lists_twenty_at_most) {
  const std::vector<std::string> many(50, "name_of_something");
  const std::string text = hint("zzz", "known", many);
  EXPECT_EQ(text.substr(text.size() - 5), ", ...");
}

} // namespace
} // namespace kvloom::configs
