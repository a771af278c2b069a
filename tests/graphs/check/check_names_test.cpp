#include "graphs/check/check_names.hpp"

#include <gtest/gtest.h>

namespace kvloom::graphs {
namespace {

TEST(node_name_problem, takes_snake_case) {
  for (const char* name : {"a", "retriever", "retriever_2", "a1_b2"})
    EXPECT_EQ(node_name_problem(name), "") << name;
  EXPECT_EQ(node_name_problem(std::string(64, 'a')), "");
}

TEST(node_name_problem, refuses_what_has_no_variable_of_its_own) {
  for (const char* name : {"", "A", "1a", "_a", "a_", "a__b", "a-b", "a.b",
                           "a b", "\xc3\xa9", "model", "prompt"})
    EXPECT_NE(node_name_problem(name), "") << name;
  EXPECT_NE(node_name_problem(std::string(65, 'a')), "");
}

TEST(run_name_problem, takes_names_of_folders_only) {
  for (const char* name : {"demo", "Demo-1.2_x", "007"})
    EXPECT_EQ(run_name_problem(name), "") << name;
  for (const char* name : {"", ".", "..", "-x", "_x", "a/b", "a b", "a\n"})
    EXPECT_NE(run_name_problem(name), "") << name;
}

} // namespace
} // namespace kvloom::graphs
