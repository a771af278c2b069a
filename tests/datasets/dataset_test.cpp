#include "core/base/sha256.hpp"
#include "datasets/dataset.hpp"
#include "tests/datasets/data_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>

namespace kvloom::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const dataset& data) {
  std::vector<std::string> all;
  for (const auto& one : data.questions) all.push_back(one.text);
  return all;
}

TEST(dataset, every_wrapping_of_rows) {
  const std::string rows = R"([{"question": "a"}, {"question": "b"}])";
  EXPECT_THAT(texts(read_good(rows)), ElementsAre("a", "b"));
  EXPECT_THAT(texts(read_good("\xef\xbb\xbf" + rows)), ElementsAre("a", "b"));
  for (const auto* name : {"samples", "results", "data"})
    EXPECT_THAT(texts(read_good("{\"note\": 1, \"" + std::string(name)
                                + "\": " + rows + "}")),
                ElementsAre("a", "b"));
  EXPECT_THAT(texts(read_good(R"({"question": "a", "ctxs": ["x"]})")),
              ElementsAre("a"));
  EXPECT_THAT(texts(read_good(R"({"0": "x", "query": "a"})")),
              ElementsAre("a"));
  const auto numbered = read_good(R"({"1": "x", "query": "a", "2": "y"})");
  EXPECT_EQ(numbered.shape, "one question with numbered chunks");
  EXPECT_EQ(numbered.questions.at(0).passages.size(), 2U);
  EXPECT_THAT(texts(read_good(R"({"chunks": ["x"], "query": "a"})")),
              ElementsAre("a"));
  EXPECT_THAT(texts(read_good("{\"question\": \"a\"}\n\r\n"
                              "{\"question\": \"b\"}\r\n\n")),
              ElementsAre("a", "b"));
  EXPECT_THAT(texts(read_good("[]")), ElementsAre());
}

TEST(dataset, faults_of_json_lines_name_their_line) {
  EXPECT_THAT(refusal("{\"question\": \"a\"}\n\n{\"question\": \"b\"\n"),
              HasSubstr(".json:3"));
  EXPECT_THAT(
      refusal("{\"question\": \"a\"}\n\n\n{\"id\": \"k\"}\n"),
      AllOf(HasSubstr(".json:4: row 1 (id \"k\")"), HasSubstr("question")));
  EXPECT_THAT(refusal("{\"question\": \"a\"}\n17\n"), HasSubstr(".json:2"));
}

TEST(dataset, what_is_no_data_set_is_called_by_its_name) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal(" \n"), HasSubstr("empty"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\noid x"),
              HasSubstr("Git LFS"));
  EXPECT_THAT(refusal("<!DOCTYPE html>"), HasSubstr("HTML"));
  EXPECT_THAT(refusal("PK\x03\x04zip"), HasSubstr("zip"));
  EXPECT_THAT(refusal("PAR1xx"), HasSubstr("Parquet"));
  EXPECT_THAT(refusal("17"), HasSubstr("a number (17)"));
  EXPECT_THAT(refusal("plain words"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(R"({"data": [], "results": []})"),
              AllOf(HasSubstr("data"), HasSubstr("results")));
  EXPECT_THAT(refusal(R"({"foo": 1})"), HasSubstr("question"));
}

TEST(dataset, a_file_that_ends_within_a_character_is_refused) {
  for (const std::string cut : {"\xE2\x80", "\xE3\x80"}) {
    EXPECT_THAT(refusal(cut), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal("{\"question\": \"a\"}\n" + cut),
                AllOf(HasSubstr(".json:2"), HasSubstr("not valid JSON")));
    EXPECT_THAT(
        refusal("{\"question\": \"a\"}\n" + cut + "\n{\"question\": \"b\"}\n"),
        AllOf(HasSubstr(".json:2"), HasSubstr("not valid JSON")));
  }
}

TEST(dataset, limit_and_offset_count_rows) {
  const std::string rows = R"([{"question": "a"}, {"question": "b"},
                               {"question": "c"}, {"id": "broken"}])";
  EXPECT_THAT(texts(read_good(rows, {2, 0})), ElementsAre("a", "b"));
  EXPECT_THAT(texts(read_good(rows, {1, 2})), ElementsAre("c"));
  EXPECT_THAT(texts(read_good(rows, {3, 0})), ElementsAre("a", "b", "c"));
  EXPECT_THAT(texts(read_good(rows, {0, 9})), ElementsAre());
  EXPECT_THAT(refusal(rows), HasSubstr("broken"));
}

TEST(dataset, the_file_is_identified) {
  const std::string text = R"([{"question": "a"}])";
  EXPECT_EQ(read_good(text).sha256, sha256_hex(text));
}

TEST(dataset, characters_beyond_the_first_plane_survive) {
  EXPECT_THAT(texts(read_good(R"([{"question": "\ud83d\ude00 東京 é"}])")),
              ElementsAre("\U0001F600 東京 é"));
}

// The cases of a set that is meant to trip readers, in our own words.
TEST(dataset, traps) {
  const auto data = read_good(R"([
    {"id": "nested", "question": "q", "ctxs": [], "answers": [["a", "b"]]},
    {"id": "string", "question": "q", "ctxs": [], "answers": "1447"},
    {"id": "number", "question": "q", "ctxs": [], "answers": [1447]},
    {"id": "twice", "question": "q", "ctxs": [{"title": "T", "text": "x"},
      {"title": "U", "text": "y"}, {"title": "T", "text": "x"}],
      "answers": ["a"]},
    {"id": "crlf", "question": "q", "ctxs": [{"title": "T",
      "text": "one.\r\ntwo."}], "answers": ["a"]},
    {"id": "none", "question": "q", "ctxs": [{"title": "T", "text": "x"}],
      "answers": []}])");
  ASSERT_EQ(data.questions.size(), 6U);
  EXPECT_THAT(data.questions[0].golds, ElementsAre("a", "b"));
  EXPECT_THAT(data.questions[1].golds, ElementsAre("1447"));
  EXPECT_THAT(data.questions[2].golds, ElementsAre("1447"));
  EXPECT_EQ(data.questions[3].passages.size(), 3U);
  EXPECT_EQ(data.questions[3].passages[2].index, 2U);
  EXPECT_EQ(data.questions[4].passages[0].text, "one.\r\ntwo.");
  EXPECT_TRUE(data.questions[5].golds.empty());
}

} // namespace
} // namespace kvloom::datasets
