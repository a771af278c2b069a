#include "configs/read/override_text.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

TEST(read_set_options, splits_at_the_first_equals_and_dot) {
  diagnostics problems;
  const auto out = read_set_options(
      {"retriever.top_k=4", "seed=7", "prompt.system=a=b.c", "x.y="}, problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[0].owner, "retriever");
  EXPECT_EQ(out[0].name, "top_k");
  EXPECT_EQ(out[0].text, "4");
  EXPECT_EQ(out[0].value_column, 17);
  EXPECT_EQ(out[0].place.file, "--set retriever.top_k=4");
  EXPECT_EQ(out[1].owner, "");
  EXPECT_EQ(out[1].name, "seed");
  EXPECT_EQ(out[2].text, "a=b.c");
  EXPECT_EQ(out[3].text, "");
}

TEST(read_set_options, refuses_what_has_no_path_or_value) {
  diagnostics problems;
  EXPECT_TRUE(
      read_set_options({"retriever.top_k", "=3", ""}, problems).empty());
  EXPECT_EQ(problems.size(), 3U);
  EXPECT_NE(problems[0].message.find("path=value"), std::string::npos);
}

TEST(variable_name, is_upper_case_with_two_underscores) {
  EXPECT_EQ(variable_name("retriever.top_k"), "KVLOOM_RETRIEVER__TOP_K");
  EXPECT_EQ(variable_name("seed"), "KVLOOM_SEED");
}

TEST(read_environment, matches_targets) {
  diagnostics problems;
  const auto out = read_environment({{"KVLOOM_RETRIEVER__TOP_K", "4"},
                                     {"KVLOOM_SEED", "7"},
                                     {"HOME", "/root"}},
                                    {"retriever.top_k", "seed"}, problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].owner, "retriever");
  EXPECT_EQ(out[0].name, "top_k");
  EXPECT_EQ(out[0].place.file, "KVLOOM_RETRIEVER__TOP_K");
  EXPECT_EQ(out[1].owner, "");
  EXPECT_EQ(out[1].name, "seed");
}

TEST(read_environment, a_variable_without_target_is_an_error) {
  diagnostics problems;
  read_environment(
      {{"KVLOOM_RETRIEVER__TOPK", "4"}, {"KVLOOM_RETRIEVER_TOP_K", "4"}},
      {"retriever.top_k"}, problems);
  ASSERT_EQ(problems.size(), 2U);
  for (const diagnostic& one : problems)
    EXPECT_NE(one.message.find("did you mean `KVLOOM_RETRIEVER__TOP_K`"),
              std::string::npos);
}

TEST(read_environment, leaves_those_of_scripts_and_tests_alone) {
  diagnostics problems;
  EXPECT_TRUE(read_environment({{"KVLOOM_VENV", "x"},
                                {"KVLOOM_BUILD", "x"},
                                {"KVLOOM_MODELS", "x"},
                                {"KVLOOM_JOBS", "2"},
                                {"KVLOOM_TEST_MODEL", "x"}},
                               {"retriever.top_k"}, problems)
                  .empty());
  EXPECT_TRUE(problems.empty());
}

TEST(read_environment, an_actor_may_have_a_name_that_tests_use) {
  diagnostics problems;
  EXPECT_EQ(read_environment({{"KVLOOM_TEST_ONE__TOP_K", "4"}},
                             {"test_one.top_k"}, problems)
                .size(),
            1U);
}

} // namespace
} // namespace kvloom::configs
