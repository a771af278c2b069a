#include "configs/schema/describe.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

param_spec spec_of(param_type type) {
  param_spec spec;
  spec.name = "p";
  spec.type = type;
  return spec;
}

TEST(describe, says_type_range_and_unit) {
  auto spec = spec_of(param_type::integer);
  EXPECT_EQ(describe(spec), "an integer");
  spec.least = 1;
  spec.unit = "tokens";
  EXPECT_EQ(describe(spec), "an integer of at least 1 (tokens)");
  spec.most = 64;
  EXPECT_EQ(describe(spec), "an integer from 1 to 64 (tokens)");
  spec.least.reset();
  EXPECT_EQ(describe(spec), "an integer of at most 64 (tokens)");
}

TEST(describe, bounds_are_written_in_the_unit_of_the_type) {
  auto bytes = spec_of(param_type::bytes);
  bytes.least = 1 << 20;
  bytes.unit = "bytes";
  EXPECT_EQ(describe(bytes),
            "a size in bytes such as 512MiB or 4096 of at least 1MiB");
  auto wait = spec_of(param_type::duration);
  wait.most = 60e9;
  EXPECT_EQ(describe(wait),
            "a duration with unit such as 20ms of at most 1min");
}

TEST(describe, lists_choices) {
  auto spec = spec_of(param_type::choice);
  spec.choices = {"full", "reuse"};
  EXPECT_EQ(describe(spec), "one of full, reuse");
}

TEST(describe, elements_of_lists) {
  EXPECT_TRUE(is_list(param_type::real_list));
  EXPECT_FALSE(is_list(param_type::path));
  EXPECT_EQ(element_type(param_type::integer_list), param_type::integer);
  EXPECT_EQ(element_type(param_type::bytes), param_type::bytes);
}

TEST(describe, range_problem_is_empty_inside) {
  auto spec = spec_of(param_type::real);
  spec.least = 0;
  spec.most = 1;
  EXPECT_EQ(range_problem(spec, 0), "");
  EXPECT_EQ(range_problem(spec, 1), "");
  EXPECT_NE(range_problem(spec, 1.01), "");
  EXPECT_NE(range_problem(spec, -1e-9), "");
}

} // namespace
} // namespace kvloom::configs
