#include "configs/schema/diagnostic.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

TEST(diagnostic, is_one_line_with_place_and_key_path) {
  const diagnostic one{{"a.yaml", 3, 7}, "actors.r", "found `x`"};
  EXPECT_EQ(to_string(one), "a.yaml:3:7: actors.r: found `x`");
  EXPECT_EQ(to_string(diagnostic{whole("a.yaml"), {}, "empty"}),
            "a.yaml: empty");
  EXPECT_EQ(to_string(diagnostic{{}, {}, "empty"}), "empty");
}

TEST(diagnostic, option_place_names_its_column) {
  EXPECT_EQ(to_string(source_place{"--set a.b=x", 0, 11}),
            "--set a.b=x, column 11");
}

TEST(diagnostic, all_become_one_error_of_bad_input) {
  const diagnostics all{{{"a.yaml", 1, 1}, {}, "one"},
                        {{"a.yaml", 2, 1}, {}, "two"}};
  const error made = to_error(all);
  EXPECT_EQ(made.code, errc::bad_input);
  EXPECT_EQ(made.message, "a.yaml:1:1: one\na.yaml:2:1: two");
}

TEST(diagnostic, a_flood_is_cut_with_its_count) {
  const diagnostics all(1234, {{"a.yaml", 1, 1}, {}, "again"});
  const std::string text = to_error(all).message;
  EXPECT_NE(text.find("\n... and 1034 more"), std::string::npos);
  EXPECT_LT(text.size(), 8000U);
}

} // namespace
} // namespace kvloom::configs
