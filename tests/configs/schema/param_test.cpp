#include "configs/schema/param.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kvloom::configs {
namespace {

TEST(resolved_params, gives_what_was_set) {
  resolved_params params;
  params.set("a", {true, {}});
  params.set("b", {std::int64_t{7}, {}});
  params.set("c", {0.5, {}});
  params.set("d", {std::string("no"), {}});
  params.set("e", {std::vector<std::string>{"x"}, {}});
  params.set("f", {std::vector<std::int64_t>{1, 2}, {}});
  params.set("g", {std::vector<double>{0.25}, {}});
  EXPECT_TRUE(params.boolean("a"));
  EXPECT_EQ(params.integer("b"), 7);
  EXPECT_EQ(params.real("c"), 0.5);
  EXPECT_EQ(params.text("d"), "no");
  EXPECT_EQ(params.texts("e").front(), "x");
  EXPECT_EQ(params.integers("f").size(), 2U);
  EXPECT_EQ(params.reals("g").front(), 0.25);
  params.set("b", {std::int64_t{8}, {}});
  EXPECT_EQ(params.integer("b"), 8);
  EXPECT_EQ(params.all().size(), 7U);
}

TEST(resolved_params, a_wrong_name_or_type_is_a_fault_that_names_it) {
  resolved_params params;
  params.set("top_k", {std::int64_t{7}, {}});
  EXPECT_FALSE(params.has("topk"));
  const auto message = [&](auto&& call) -> std::string {
    try {
      call();
    } catch (const std::logic_error& fault) {
      return fault.what();
    }
    return {};
  };
  EXPECT_NE(message([&] { params.integer("topk"); }).find("topk"),
            std::string::npos);
  EXPECT_NE(message([&] { params.text("top_k"); }).find("a text"),
            std::string::npos);
}

} // namespace
} // namespace kvloom::configs
