#include "configs/read/value.hpp"
#include "configs/read/yaml_reader.hpp"
#include "configs/schema/param.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kvloom::configs {
namespace {

TEST(to_text, uses_the_largest_unit_that_divides) {
  using i = std::int64_t;
  EXPECT_EQ(to_text(param_type::bytes, i{0}), "0");
  EXPECT_EQ(to_text(param_type::bytes, i{4096}), "4KiB");
  EXPECT_EQ(to_text(param_type::bytes, i{4097}), "4097");
  EXPECT_EQ(to_text(param_type::bytes, i{2} << 30), "2GiB");
  EXPECT_EQ(to_text(param_type::duration, i{0}), "0ns");
  EXPECT_EQ(to_text(param_type::duration, i{1500000000}), "1500ms");
  EXPECT_EQ(to_text(param_type::duration, i{600000000000}), "10min");
  EXPECT_EQ(to_text(param_type::integer, i{-3}), "-3");
  EXPECT_EQ(to_text(param_type::real, 0.15), "0.15");
  EXPECT_EQ(to_text(param_type::boolean, true), "true");
  EXPECT_EQ(to_text(param_type::text, std::string("no")), "\"no\"");
}

TEST(to_text, reads_back_as_the_same_value) {
  using i = std::int64_t;
  const std::vector<std::pair<param_type, param_value>> values{
      {param_type::boolean, false},
      {param_type::integer, std::numeric_limits<i>::min()},
      {param_type::integer, std::numeric_limits<i>::max()},
      {param_type::real, 0.1},
      {param_type::real, 1e300},
      {param_type::real, 5e-324},
      {param_type::real, -0.0},
      {param_type::bytes, std::numeric_limits<i>::max()},
      {param_type::bytes, i{3} << 40},
      {param_type::duration, i{1}},
      {param_type::duration, i{86400} * 1000000000},
      {param_type::text, std::string("007")},
      {param_type::path, std::string("/a b/#c: d.json")},
      {param_type::text_list, std::vector<std::string>{}},
      {param_type::text_list, std::vector<std::string>{"", "a,b", "]", "no"}},
      {param_type::integer_list, std::vector<i>{1, -2}},
      {param_type::real_list, std::vector<double>{0.25, 1e-9}},
  };
  for (const auto& [type, value] : values) {
    const std::string written = to_text(type, value);
    param_spec spec;
    spec.type = type;
    const auto document = read_yaml("key: " + written, "t");
    ASSERT_TRUE(document.problems.empty()) << written;
    diagnostics problems;
    const auto read
        = read_value(spec, *document.root->find("key")->value, "key", problems);
    ASSERT_TRUE(read) << written << to_string(problems.front());
    EXPECT_EQ(*read, value) << written;
    if (type == param_type::text || type == param_type::path) continue;
    const auto typed = read_value_text(spec, written);
    ASSERT_TRUE(typed) << written << typed.error().message;
    EXPECT_EQ(*typed, value) << written;
  }
}

} // namespace
} // namespace kvloom::configs
