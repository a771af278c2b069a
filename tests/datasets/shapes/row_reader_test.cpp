#include "datasets/shapes/row_reader.hpp"
#include "tests/datasets/data_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::datasets {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(row_reader, ids_of_the_caller_and_stable_ones_where_absent) {
  const auto data = read_good(R"([{"id": "x", "question": "a"},
    {"_id": 7, "question": "b"}, {"question": "c"},
    {"id": "", "question": "d"}, {"id": null, "question": "e"}])");
  std::vector<std::string> ids;
  for (const auto& one : data.questions) ids.push_back(one.id);
  EXPECT_THAT(ids, ElementsAre("x", "7", "row-2", "row-3", "row-4"));
  EXPECT_THAT(data.notes, Contains(HasSubstr("3 questions have no id")));
}

TEST(row_reader, generated_ids_do_not_depend_on_the_offset) {
  const auto data = read_good(
      R"([{"question": "a"}, {"question": "b"}, {"question": "c"}])", {1, 1});
  ASSERT_EQ(data.questions.size(), 1U);
  EXPECT_EQ(data.questions[0].id, "row-1");
  EXPECT_EQ(data.questions[0].row, 1U);
}

TEST(row_reader, one_id_for_two_rows_is_refused) {
  EXPECT_THAT(refusal("[{\"id\": \"x\", \"question\": \"a\"},\n"
                      "{\"id\": \"x\", \"question\": \"b\"}]"),
              AllOf(HasSubstr(".json:2"), HasSubstr("row 1"),
                    HasSubstr("\"x\""), HasSubstr("row 0")));
  EXPECT_THAT(refusal(R"([{"id": "row-1", "question": "a"},
                          {"question": "b"}])"),
              HasSubstr("row-1"));
}

TEST(row_reader, a_broken_row_is_named_by_line_row_id_and_field) {
  EXPECT_THAT(refusal("[{\"id\": \"a\", \"question\": \"q\"},\n\n"
                      "{\"id\": \"b\", \"ctxs\": [],\n\"question\": null}]"),
              AllOf(HasSubstr(".json:4: row 1 (id \"b\")"),
                    HasSubstr("field \"question\""), HasSubstr("null")));
  EXPECT_THAT(refusal(R"([{"id": "a", "questoin": "q", "ctxs": []}])"),
              AllOf(HasSubstr("field \"question\""), HasSubstr("questoin")));
  EXPECT_THAT(refusal(R"([{"question": " \n"}])"), HasSubstr("blank"));
  EXPECT_THAT(refusal(R"([{"question": 3}])"), HasSubstr("a number (3)"));
  EXPECT_THAT(refusal(R"([{"question": "a"}, 17])"),
              AllOf(HasSubstr("row 1"), HasSubstr("17")));
  EXPECT_THAT(refusal(R"([{"id": [], "question": "a"}])"),
              HasSubstr("field \"id\""));
}

TEST(row_reader, what_is_dropped_or_odd_is_counted) {
  const auto data = read_good(R"([
    {"id": "a", "question": "q", "answers": [], "ctxs": ["", "x", " "]},
    {"id": "b", "question": "q", "answers": ["y"], "ctxs": ["x", "x"]},
    {"id": "c", "question": "q", "answers": ["y"]}])");
  EXPECT_EQ(data.dropped_passages, 2U);
  EXPECT_THAT(data.questions[0].dropped_passages, ElementsAre(0, 2));
  EXPECT_EQ(data.questions[0].passages[0].index, 1U);
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("2 blank"), HasSubstr("\"a\""))));
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("1 questions have no passages"),
                             HasSubstr("\"c\""))));
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("not be scored"), HasSubstr("\"a\""))));
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("more than once"), HasSubstr("\"b\""))));
}

TEST(row_reader, token_ids_in_place_of_text) {
  const auto data = read_good(R"([{"prefix_ids": [1, 5], "question_ids": [9],
    "ctx_ids": [[2], [3, 4]], "answers": ["x"]}])");
  const auto& one = data.questions.at(0);
  EXPECT_EQ(one.text, "");
  EXPECT_THAT(one.prefix_ids, ElementsAre(1, 5));
  EXPECT_THAT(one.question_ids, ElementsAre(9));
  EXPECT_THAT(one.passages.at(1).ids, ElementsAre(3, 4));
  EXPECT_THAT(refusal(R"([{"question_ids": []}])"), HasSubstr("question_ids"));
  EXPECT_THAT(refusal(R"([{"prefix_ids": [1]}])"), HasSubstr("question"));
}

TEST(row_reader, articles_of_paragraphs) {
  const auto data = read_good(R"({"version": 1, "data": [{"title": "T",
    "paragraphs": [
      {"context": "p0", "qas": [
        {"id": "a", "question": "q0", "answers": [{"text": "x",
                                                   "answer_start": 0}]},
        {"id": "b", "question": "q1", "answers": []}]},
      {"context": "p1", "qas": [{"id": "c", "question": "q2",
                                 "answers": [{"text": "y"}]}]}]}]})");
  ASSERT_EQ(data.questions.size(), 3U);
  EXPECT_EQ(data.questions[1].passages.at(0).text, "p0");
  EXPECT_EQ(data.questions[1].passages.at(0).title, "T");
  EXPECT_EQ(data.questions[2].row, 2U);
  EXPECT_THAT(data.questions[2].golds, ElementsAre("y"));
  EXPECT_THAT(data.questions[2].supporting, ElementsAre(0));
  ASSERT_EQ(data.collection.size(), 2U);
  EXPECT_EQ(data.collection[1].index, 1U);
  EXPECT_THAT(refusal(R"({"data": [{"paragraphs": [{"context": "p",
                          "qas": [{"id": "a", "answers": []}]}]}]})"),
              AllOf(HasSubstr("\"a\""), HasSubstr("question")));
}

TEST(row_reader, the_collection_is_whole_whatever_the_limit) {
  const auto data = read_good(R"({"data": [
    {"paragraphs": [{"context": "p0", "qas": [{"question": "a"}]}]},
    {"paragraphs": [{"context": "p1", "qas": [{"question": "b"}]}]}]})",
                              {1, 0});
  EXPECT_EQ(data.questions.size(), 1U);
  EXPECT_EQ(data.collection.size(), 2U);
}

TEST(row_reader, summaries_without_a_question) {
  const auto data = read_good(
      R"([{"id": 1, "document": "a ||||| b", "reference_summary": "s"},
          {"id": 2, "texts": ["c"], "reference_summary": "t",
           "question": "Sum up."}])");
  EXPECT_EQ(data.questions[0].text, summary_question);
  EXPECT_EQ(data.questions[0].passages.size(), 2U);
  EXPECT_EQ(data.questions[1].text, "Sum up.");
  EXPECT_THAT(data.questions[1].golds, ElementsAre("t"));
}

TEST(row_reader, collections) {
  auto data = read_good(R"([{"title": "T", "text": "a"}, {"text": ""},
                            {"id": "k", "text": "c"}])");
  EXPECT_TRUE(data.questions.empty());
  ASSERT_EQ(data.collection.size(), 2U);
  EXPECT_EQ(data.collection[1].index, 2U);
  EXPECT_EQ(data.collection[1].id, "k");
  EXPECT_EQ(data.dropped_passages, 1U);
  EXPECT_EQ(read_good(R"(["a", "b"])").collection.size(), 2U);
  EXPECT_EQ(read_good(R"({"chunks": ["a", "b"]})").collection.size(), 2U);
  data = read_good(R"({"T": ["a.", " b."], "U": ["c."]})");
  ASSERT_EQ(data.collection.size(), 2U);
  EXPECT_EQ(data.collection[0].title, "T");
  EXPECT_EQ(data.collection[0].text, "a. b.");
  data = read_good(R"({"1984": ["a."], "2001": ["b."]})");
  ASSERT_EQ(data.collection.size(), 2U);
  EXPECT_EQ(data.collection[1].title, "2001");
  EXPECT_THAT(refusal(R"([{"id": 1, "text": "a"}, {"id": 1, "text": "b"}])"),
              HasSubstr("\"1\""));
}

} // namespace
} // namespace kvloom::datasets
