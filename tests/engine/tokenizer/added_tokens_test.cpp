// The flags of added tokens, one by one (the reference's ids are in the golden
// tests).
#include "engine/tokenizer/added_tokens.hpp"

#include <gtest/gtest.h>

namespace kvloom::engine {
namespace {

/// Ids in brackets with the bytes they cover, text between.
std::string cut(const added_token_matcher& matcher, const std::string& text,
                bool with_special = true) {
  segmented_text all;
  all.text = text;
  all.segments.push_back({0, text.size(), no_token, true});
  matcher.split(all, with_special);
  std::string out;
  for (const auto& part : all.segments) {
    const std::string view(all.view(part));
    out += part.id == no_token ? view
                               : "[" + std::to_string(part.id) + view + "]";
    out += "|";
  }
  return out;
}

added_token_matcher with(const added_token& token) {
  added_token_matcher matcher;
  matcher.add(token.content, token);
  return matcher;
}

TEST(added_tokens, blanks_are_taken_as_declared) {
  added_token token{.id = 5, .content = "<m>"};
  EXPECT_EQ(cut(with(token), "a <m> b"), "a |[5<m>]| b|");
  token.lstrip = true;
  EXPECT_EQ(cut(with(token), "a \t<m> b"), "a|[5 \t<m>]| b|");
  token.rstrip = true;
  EXPECT_EQ(cut(with(token), "a <m>\u3000\nb"), "a|[5 <m>\u3000\n]|b|");
  token.lstrip = false;
  EXPECT_EQ(cut(with(token), "a <m> "), "a |[5<m> ]|");
  // Two in a row: the blanks between belong to the first.
  token.lstrip = true;
  EXPECT_EQ(cut(with(token), " <m> <m> "), "[5 <m> ]|[5<m> ]|");
}

TEST(added_tokens, single_words_stand_alone) {
  const added_token token{.id = 5, .content = "<m>", .single_word = true};
  EXPECT_EQ(cut(with(token), "a<m>"), "a<m>|");
  EXPECT_EQ(cut(with(token), "<m>é"), "<m>é|");
  EXPECT_EQ(cut(with(token), "é <m>, _<m>"), "é |[5<m>]|, _<m>|");
}

TEST(added_tokens, the_longest_of_the_leftmost_wins) {
  added_token_matcher matcher;
  matcher.add("<a", {.id = 1, .content = "<a"});
  matcher.add("<a><b>", {.id = 2, .content = "<a><b>"});
  matcher.add("b>c", {.id = 3, .content = "b>c"});
  EXPECT_EQ(cut(matcher, "<a><b>c"), "[2<a><b>]|c|");
  EXPECT_EQ(cut(matcher, "<a><c>"), "[1<a]|><c>|");
  EXPECT_EQ(cut(matcher, "<a<a"), "[1<a]|[1<a]|");
}

TEST(added_tokens, special_ones_are_text_unless_asked_for) {
  added_token_matcher matcher;
  matcher.add("<s>", {.id = 1, .content = "<s>", .special = true});
  matcher.add("<t>", {.id = 2, .content = "<t>"});
  EXPECT_EQ(cut(matcher, "<s><t>", false), "<s>|[2<t>]|");
  EXPECT_EQ(cut(matcher, "<s><t>", true), "[1<s>]|[2<t>]|");
}

} // namespace
} // namespace kvloom::engine
