#include "core/base/result.hpp"

#include <gtest/gtest.h>

namespace kvloom {
namespace {

result<int> half(int n) {
  if (n % 2 != 0) return fail(errc::bad_input, "found an odd number", "here");
  return n / 2;
}

TEST(result, carries_a_value_or_an_error_with_its_place) {
  EXPECT_EQ(half(8).value(), 4);
  auto failed = half(7);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::bad_input);
  EXPECT_EQ(to_string(failed.error()), "here: found an odd number");
}

TEST(result, passes_errors_on) {
  auto failed = half(7);
  result<std::string> outer = pass_on(failed);
  EXPECT_EQ(outer.error().place, "here");
}

TEST(result, exit_codes_are_the_documented_ones) {
  EXPECT_EQ(exit_code(errc::request_failed), 1);
  EXPECT_EQ(exit_code(errc::bad_input), 2);
  EXPECT_EQ(exit_code(errc::environment), 3);
}

} // namespace
} // namespace kvloom
