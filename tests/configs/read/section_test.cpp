#include "configs/read/section.hpp"
#include "configs/read/yaml_reader.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

std::vector<param_spec> specs() {
  param_spec top_k;
  top_k.name = "top_k";
  top_k.type = param_type::integer;
  top_k.least = 1;
  param_spec index;
  index.name = "index";
  return {top_k, index};
}

TEST(read_params, reports_all_and_keeps_what_is_fine) {
  const auto document = read_yaml("topk: 3\ntop_k: 0\nindex: no\n", "t.yaml");
  diagnostics problems;
  const auto values = read_params(*document.root, specs(), "params", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(to_string(problems[0]),
            "t.yaml:1:1: params: unknown key `topk`; did you mean `top_k`? "
            "known keys: top_k, index");
  EXPECT_EQ(to_string(problems[1]),
            "t.yaml:2:8: params.top_k: found `0`, out of range: wanted an "
            "integer of at least 1");
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(std::get<std::string>(values.at("index").value), "no");
  EXPECT_EQ(to_string(values.at("index").place), "t.yaml:3:8");
}

TEST(read_params, wants_a_mapping) {
  const auto document = read_yaml("[a]", "t.yaml");
  diagnostics problems;
  EXPECT_TRUE(read_params(*document.root, specs(), "params", problems).empty());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message,
            "found a list, wanted a mapping of parameters");
}

TEST(join_path, leaves_out_an_empty_outer) {
  EXPECT_EQ(join_path("", "a"), "a");
  EXPECT_EQ(join_path("a", "b"), "a.b");
}

} // namespace
} // namespace kvloom::configs
