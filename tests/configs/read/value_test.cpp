#include "configs/read/value.hpp"
#include "configs/read/yaml_reader.hpp"

#include <gtest/gtest.h>

namespace kvloom::configs {
namespace {

param_spec spec_of(param_type type) {
  param_spec spec;
  spec.name = "p";
  spec.type = type;
  return spec;
}

std::string problem_of(const param_spec& spec, const std::string& yaml) {
  const auto document = read_yaml("key: " + yaml, "t.yaml");
  diagnostics problems = document.problems;
  if (document.root)
    read_value(spec, *document.root->find("key")->value, "key", problems);
  return problems.empty() ? "" : to_string(problems.front());
}

template <class T>
T typed(param_type type, std::string_view text) {
  const auto value = read_value_text(spec_of(type), text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? std::get<T>(*value) : T{};
}

text_problem refused(param_type type, std::string_view text) {
  const auto value = read_value_text(spec_of(type), text);
  EXPECT_FALSE(value) << text;
  return value ? text_problem{} : value.error();
}

TEST(read_value, wrong_shapes_are_named) {
  const auto integer = spec_of(param_type::integer);
  EXPECT_EQ(problem_of(integer, "[1]"),
            "t.yaml:1:6: key: found a list, wanted an integer");
  EXPECT_EQ(problem_of(integer, "{a: 1}"),
            "t.yaml:1:6: key: found a mapping, wanted an integer");
  EXPECT_EQ(problem_of(integer, ""),
            "t.yaml:1:1: key: found nothing (null), wanted an integer; give a "
            "value or remove the key");
  EXPECT_EQ(problem_of(spec_of(param_type::integer_list), "3"),
            "t.yaml:1:6: key: found `3`, wanted a list of integers, written "
            "[a, b]");
}

TEST(read_value, a_null_in_a_text_field_is_asked_about) {
  const auto text = spec_of(param_type::text);
  EXPECT_NE(problem_of(text, "null").find("in quotes"), std::string::npos);
  EXPECT_NE(problem_of(text, "~"), "");
  EXPECT_EQ(problem_of(text, "\"null\""), "");
  EXPECT_EQ(problem_of(text, "nULL"), "");
}

TEST(read_value, list_elements_have_their_own_places) {
  const auto document = read_yaml("key: [1, x,\n  007]", "t.yaml");
  diagnostics problems;
  EXPECT_FALSE(read_value(spec_of(param_type::integer_list),
                          *document.root->find("key")->value, "key", problems));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(to_string(problems[0]).substr(0, 20), "t.yaml:1:10: key[1]:");
  EXPECT_EQ(to_string(problems[1]).substr(0, 19), "t.yaml:2:3: key[2]:");
}

// Y08: a text field gets the text, whatever it looks like.
TEST(read_value_text, texts_are_taken_to_the_letter) {
  for (const char* text : {"0", "no", "007", "", " a ", "a,b:c=d", "[a, b]",
                           "it's", "a\"b", "{x}", "#x", "null"})
    EXPECT_EQ(typed<std::string>(param_type::text, text), text);
  EXPECT_EQ(typed<std::string>(param_type::text, "\"0\""), "0");
  EXPECT_EQ(typed<std::string>(param_type::text, "\"a\\n\\t\\\\\\\"\""),
            "a\n\t\\\"");
}

TEST(read_value_text, broken_quotes_have_a_column) {
  EXPECT_EQ(refused(param_type::text, "\"abc").column, 0U);
  EXPECT_EQ(refused(param_type::text, "\"abc\" x").column, 5U);
  EXPECT_EQ(refused(param_type::text, "\"a\\q\"").column, 2U);
  EXPECT_EQ(refused(param_type::text, "ab\xff").column, 2U);
}

// Y09: one rule for separators in values; the schema tells list from text.
TEST(read_value_text, lists_and_texts_with_commas_and_colons) {
  const std::string devices = "mlx5_0:1,mlx5_3:1";
  EXPECT_EQ(typed<std::string>(param_type::text, devices), devices);
  using texts = std::vector<std::string>;
  EXPECT_EQ(typed<texts>(param_type::text_list, "[mlx5_0:1,mlx5_3:1]"),
            (texts{"mlx5_0:1", "mlx5_3:1"}));
  EXPECT_EQ(typed<texts>(param_type::text_list, "[\"a,b\" ,c ]"),
            (texts{"a,b", "c"}));
  EXPECT_EQ(typed<texts>(param_type::text_list, "[]"), texts{});
  EXPECT_EQ(typed<texts>(param_type::text_list, "[ ]"), texts{});
  EXPECT_EQ(typed<texts>(param_type::text_list, "[\"\"]"), texts{""});
  EXPECT_EQ(typed<std::vector<double>>(param_type::real_list, "[0, 0.15,1]"),
            (std::vector<double>{0, 0.15, 1}));
  const auto bare = refused(param_type::text_list, devices);
  EXPECT_EQ(bare.column, 0U);
  EXPECT_NE(bare.message.find("[a, \"b,c\"]"), std::string::npos);
}

TEST(read_value_text, list_problems_have_columns) {
  using type = param_type;
  EXPECT_EQ(refused(type::integer_list, "[1,x]").column, 3U);
  EXPECT_EQ(refused(type::integer_list, "[1,,2]").column, 3U);
  EXPECT_EQ(refused(type::integer_list, "[1,]").column, 3U);
  EXPECT_EQ(refused(type::integer_list, "[1").column, 2U);
  EXPECT_EQ(refused(type::integer_list, "[").column, 1U);
  EXPECT_EQ(refused(type::integer_list, "[1]x").column, 3U);
  EXPECT_EQ(refused(type::text_list, "[[a]]").column, 1U);
  EXPECT_EQ(refused(type::text_list, "[\"a\"b]").column, 4U);
  EXPECT_EQ(refused(type::integer_list, "[\"1\"]").column, 1U);
}

TEST(read_value_text, numbers_follow_the_rules_of_yaml) {
  EXPECT_EQ(typed<std::int64_t>(param_type::integer, "8"), 8);
  EXPECT_EQ(typed<std::int64_t>(param_type::bytes, "2GiB"), 2LL << 30);
  EXPECT_EQ(typed<bool>(param_type::boolean, "true"), true);
  refused(param_type::integer, "\"8\"");
  refused(param_type::integer, "");
  refused(param_type::boolean, "yes");
  refused(param_type::integer, "1e3");
}

} // namespace
} // namespace kvloom::configs
