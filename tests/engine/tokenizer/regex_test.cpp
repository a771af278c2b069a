#include "engine/tokenizer/regex.hpp"
#include "engine/tokenizer/regex_dialect.hpp"

#include <gtest/gtest.h>

namespace kvloom::engine {
namespace {

std::string marked(std::string_view pattern, std::string_view text) {
  const auto made = regex::compile(pattern);
  if (!made) return "error: " + made.error().message;
  std::vector<byte_range> found;
  if (const auto done = made->find_all(text, found); !done)
    return "error: " + done.error().message;
  std::string out;
  for (const auto& one : found) {
    out += '[';
    out += text.substr(one.begin, one.end - one.begin);
    out += ']';
  }
  return out;
}

TEST(regex, matches_follow_one_another) {
  EXPECT_EQ(marked("a+", "aabaa"), "[aa][aa]");
  EXPECT_EQ(marked("x*", "axx"), "[][xx]");
  EXPECT_EQ(marked(R"(\s+(?!\S)|\s+)", "a   b"), "[  ][ ]");
  EXPECT_EQ(marked(R"((?i:'s|'t))", "'S 't"), "['S]['t]");
  EXPECT_EQ(marked(R"(\p{Han}+)", "中文 abc"), "[中文]");
  EXPECT_EQ(marked(R"([^\r\n]+)", "a\r\nb"), "[a][b]");
  EXPECT_EQ(marked(R"(^b)", "a\nb"), "[b]"); // ^ is of lines
}

TEST(regex, what_would_mean_something_else_is_refused) {
  for (const auto* pattern :
       {"[a[b]]", "[a&&b]", "a{1,2}+", "(?m:a)", "a(?i)b", R"(\g<x>)",
        R"([\W])", R"([\D])", R"(\u12)", R"(\pL)", "[]", "(", R"(a\)"}) {
    const auto made = regex::compile(pattern);
    ASSERT_FALSE(made) << pattern;
    EXPECT_EQ(made.error().code, errc::bad_input);
    EXPECT_NE(made.error().message.find(pattern), std::string::npos);
  }
}

TEST(regex, runaway_patterns_end_with_an_error) {
  const auto made = regex::compile("(?:a|aa|aaa)+[c-d]");
  ASSERT_TRUE(made);
  std::vector<byte_range> found;
  const auto done = made->find_all(std::string(60, 'a') + "b", found);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::bad_input);
}

TEST(regex, literals_are_quoted) {
  const std::string text = R"(a.b*[c]\d{2}^$|())";
  EXPECT_EQ(marked(quote_regex(text), "x" + text + "x"), "[" + text + "]");
}

} // namespace
} // namespace kvloom::engine
