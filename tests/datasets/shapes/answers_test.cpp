#include "datasets/shapes/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

result<std::vector<std::string>> read(std::string_view row) {
  const json_source source{"f.json", row, 1};
  const auto value = parse_json(source);
  EXPECT_TRUE(value.has_value()) << row;
  return read_answers({source, 4, "x"}, *value);
}

TEST(answers, one_reader_for_every_form) {
  EXPECT_THAT(read(R"({"answers": ["Croatia"]})").value(),
              ElementsAre("Croatia"));
  EXPECT_THAT(read(R"({"answers": [["Croatia"]]})").value(),
              ElementsAre("Croatia"));
  EXPECT_THAT(read(R"({"answers": [["a", "b"], ["c"]]})").value(),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(read(R"({"answers": "1447"})").value(), ElementsAre("1447"));
  EXPECT_THAT(read(R"({"answers": [1447]})").value(), ElementsAre("1447"));
  EXPECT_THAT(read(R"({"answers": 3.50})").value(), ElementsAre("3.50"));
  EXPECT_THAT(read(R"({"answer": "yes"})").value(), ElementsAre("yes"));
  EXPECT_THAT(read(R"({"answer": ["a", "b"]})").value(), ElementsAre("a", "b"));
  EXPECT_THAT(
      read(R"({"answers": [{"text": "a", "answer_start": 3}]})").value(),
      ElementsAre("a"));
  EXPECT_THAT(
      read(R"({"answers": {"text": ["a", "b"], "answer_start": [1, 2]}})")
          .value(),
      ElementsAre("a", "b"));
  EXPECT_THAT(read(R"({"answer": {"value": "a", "aliases": ["b"]}})").value(),
              ElementsAre("a", "b"));
  EXPECT_THAT(read(R"({"answer": "a", "answer_aliases": ["b", "a"]})").value(),
              ElementsAre("a", "b"));
  EXPECT_THAT(read(R"({"reference_summary": "s"})").value(), ElementsAre("s"));
}

TEST(answers, none_is_legal) {
  EXPECT_THAT(read(R"({"question": "q"})").value(), IsEmpty());
  EXPECT_THAT(read(R"({"answers": []})").value(), IsEmpty());
  EXPECT_THAT(read(R"({"answers": null})").value(), IsEmpty());
  EXPECT_THAT(read(R"({"answers": [[]]})").value(), IsEmpty());
}

TEST(answers, golds_stay_as_they_are_spelt) {
  EXPECT_THAT(read(R"({"answers": ["November\u00a010", "---", ""]})").value(),
              ElementsAre("November\u00a010", "---", ""));
}

TEST(answers, what_is_no_answer_is_named) {
  const auto refused = read(R"({"answers": ["a", [true]]})");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("row 4 (id \"x\")"));
  EXPECT_THAT(refused.error().message, HasSubstr("answers[1][0]"));
  EXPECT_THAT(refused.error().message, HasSubstr("true"));
  EXPECT_FALSE(read(R"({"answers": {"foo": 1}})").has_value());
}

} // namespace
} // namespace kvloom::datasets
