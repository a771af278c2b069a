#include "datasets/shapes/passages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

result<passage_list> read(std::string_view row) {
  const json_source source{"f.json", row, 1};
  const auto value = parse_json(source);
  EXPECT_TRUE(value.has_value()) << row;
  const row_context where{source, 0, {}};
  auto list = read_passages(where, *value);
  if (list)
    if (auto done = read_supporting(where, *value, *list); !done)
      return pass_on(done);
  return list;
}

/// `index:title|text` of each passage.
std::vector<std::string> seen(const passage_list& list) {
  std::vector<std::string> all;
  for (const auto& one : list.kept)
    all.push_back(std::to_string(one.index) + ":" + one.title + "|" + one.text);
  return all;
}

std::vector<std::string> good(std::string_view row) {
  auto list = read(row);
  EXPECT_TRUE(list.has_value()) << row << to_string(list.error());
  return list ? seen(*list) : std::vector<std::string>{};
}

std::string bad(std::string_view row) {
  auto list = read(row);
  EXPECT_FALSE(list.has_value()) << row;
  return list ? std::string() : to_string(list.error());
}

TEST(passages, every_form_of_a_list) {
  EXPECT_THAT(good(R"({"ctxs": [{"title": "T", "text": "a"}, {"text": "b"}]})"),
              ElementsAre("0:T|a", "1:|b"));
  EXPECT_THAT(good(R"({"contents": ["a", {"text": "b"}, {"content": "c"}]})"),
              ElementsAre("0:|a", "1:|b", "2:|c"));
  EXPECT_THAT(good(R"({"texts": ["a", "b"]})"), ElementsAre("0:|a", "1:|b"));
  EXPECT_THAT(good(R"({"document": ["a", "b"]})"), ElementsAre("0:|a", "1:|b"));
  EXPECT_THAT(good(R"({"document": "a ||||| b"})"),
              ElementsAre("0:|a", "1:|b"));
  EXPECT_THAT(good(R"({"context": [["T", ["a.", " b."]], ["U", []]]})"),
              ElementsAre("0:T|a. b.", "1:U|"));
  EXPECT_THAT(good(R"({"context": {"title": ["T", "U"],
                       "sentences": [["a.", " b."], ["c"]]}})"),
              ElementsAre("0:T|a. b.", "1:U|c"));
  EXPECT_THAT(good(R"({"title": "T", "context": "a"})"), ElementsAre("0:T|a"));
  EXPECT_THAT(good(R"({"paragraphs": [{"idx": 0, "title": "T",
                       "paragraph_text": "a"}]})"),
              ElementsAre("0:T|a"));
  EXPECT_THAT(good(R"({"question": "q"})"), IsEmpty());
  EXPECT_THAT(good(R"({"ctxs": []})"), IsEmpty());
}

TEST(passages, numbered_chunks_come_in_the_order_of_their_numbers) {
  EXPECT_THAT(good(R"({"10": "k", "2": "c", "0": "\n\na\n\n", "1": "b",
                       "query": "q"})"),
              ElementsAre("0:|a", "1:|b", "2:|c", "10:|k"));
  EXPECT_THAT(good(R"({"0": "a", "1": "b", "query": "q", "chunk_num": 2})"),
              ElementsAre("0:|a", "1:|b"));
  EXPECT_THAT(bad(R"({"0": "a", "query": "q", "chunk_num": 2})"),
              HasSubstr("chunk_num"));
}

TEST(passages, numbered_chunks_begin_with_any_number) {
  EXPECT_THAT(good(R"({"question": "q", "1": "a", "2": "b"})"),
              ElementsAre("1:|a", "2:|b"));
  EXPECT_THAT(good(R"({"question": "q", "7": {"title": "T", "text": "a"}})"),
              ElementsAre("7:T|a"));
  EXPECT_THAT(good(R"({"1": "a", "2": "b", "query": "q", "chunk_num": 2})"),
              ElementsAre("1:|a", "2:|b"));
  EXPECT_THAT(bad(R"({"question": "q", "1": "a", "2": 3})"), HasSubstr("2"));
  EXPECT_THAT(bad(R"({"ctxs": ["a"], "1": "b"})"),
              AllOf(HasSubstr("ctxs"), HasSubstr("\"1\" too")));
}

TEST(passages, numbers_of_other_things_are_no_chunks) {
  for (const auto* row :
       {R"({"question": "q", "1": 5})", R"({"question": "q", "1": null})",
        R"({"question": "q", "1": ["a"]})", R"({"question": "q", "01": "a"})",
        R"({"question": "q", "-1": "a"})", R"({"question": "q", "1a": "a"})"})
    EXPECT_THAT(good(row), IsEmpty()) << row;
}

TEST(passages, records_of_keys_and_values) {
  EXPECT_THAT(good(R"({"ordered_kv_records": [["a", "1"], ["b", "2"]]})"),
              ElementsAre("0:|\"a\": \"1\"", "1:|\"b\": \"2\""));
  EXPECT_THAT(bad(R"({"ordered_kv_records": [["a"]]})"),
              HasSubstr("ordered_kv_records[0]"));
}

TEST(passages, blank_ones_go_and_the_others_keep_their_numbers) {
  const auto list
      = read(R"({"ctxs": [{"title": "", "text": " \n\t"}, {"text": "b"},
                 "\ufeff\u00a0", {"title": "T", "text": ""}]})")
            .value();
  EXPECT_THAT(seen(list), ElementsAre("1:|b", "3:T|"));
  EXPECT_THAT(list.dropped, ElementsAre(0, 2));
}

TEST(passages, inner_characters_are_kept) {
  EXPECT_THAT(good(R"({"ctxs": ["a\r\nb", "\ufeffc", "d  e\u00a0f"]})"),
              ElementsAre("0:|a\r\nb",
                          "1:|\ufeff"
                          "c",
                          "2:|d  e\u00a0"
                          "f"));
}

TEST(passages, ids_of_the_caller_are_kept) {
  const auto list
      = read(R"({"ctxs": [{"id": 10, "text": "a"}, {"id": "doc-3", "text": "b"},
                 {"_id": "x", "text": "c"}, {"text": "d"}]})")
            .value();
  EXPECT_EQ(list.kept[0].id, "10");
  EXPECT_EQ(list.kept[1].id, "doc-3");
  EXPECT_EQ(list.kept[2].id, "x");
  EXPECT_EQ(list.kept[3].id, "");
}

TEST(passages, one_id_for_two_texts_is_refused) {
  EXPECT_THAT(bad(R"({"ctxs": [{"id": 1, "text": "a"},
                      {"id": "1", "text": "b"}]})"),
              HasSubstr("\"1\""));
  EXPECT_THAT(good(R"({"ctxs": [{"id": 1, "text": "a"},
                       {"id": 1, "text": "a"}]})"),
              ElementsAre("0:|a", "1:|a"));
}

TEST(passages, token_ids_stand_in_for_texts_or_beside_them) {
  auto list = read(R"({"ctx_ids": [[1, 2], [], [3]]})").value();
  ASSERT_EQ(list.kept.size(), 2U);
  EXPECT_THAT(list.kept[0].ids, ElementsAre(1, 2));
  EXPECT_EQ(list.kept[1].index, 2U);
  EXPECT_THAT(list.dropped, ElementsAre(1));
  list = read(R"({"ctxs": ["a", "b"], "ctx_ids": [[1], [2]]})").value();
  EXPECT_EQ(list.kept[1].text, "b");
  EXPECT_THAT(list.kept[1].ids, ElementsAre(2));
  EXPECT_THAT(bad(R"({"ctxs": ["a"], "ctx_ids": [[1], [2]]})"),
              HasSubstr("ctx_ids"));
  EXPECT_THAT(bad(R"({"ctx_ids": [[1, -2]]})"), HasSubstr("ctx_ids[0][1]"));
  EXPECT_THAT(bad(R"({"ctx_ids": [[1.5]]})"), HasSubstr("ctx_ids[0][0]"));
  EXPECT_THAT(bad(R"({"ctx_ids": [[4294967296]]})"), HasSubstr("4294967296"));
  EXPECT_THAT(bad(R"({"ctx_ids": ["a"]})"), HasSubstr("ctx_ids[0]"));
}

TEST(passages, supporting_ones_are_marked_by_title_or_flag) {
  EXPECT_THAT(read(R"({"context": [["T", ["a"]], ["U", ["b"]], ["V", ["c"]]],
                       "supporting_facts": [["V", 0], ["T", 1], ["V", 2]]})")
                  .value()
                  .marked,
              ElementsAre(0, 2));
  EXPECT_THAT(read(R"({"ctxs": [{"title": "T", "text": "a"}],
                       "supporting_facts": {"title": ["T", "Z"],
                                            "sent_id": [0, 1]}})")
                  .value()
                  .marked,
              ElementsAre(0));
  EXPECT_THAT(read(R"({"ctxs": [{"text": "a", "isgold": false},
                                {"text": "b", "isgold": true}]})")
                  .value()
                  .marked,
              ElementsAre(1));
}

TEST(passages, faults_name_the_field) {
  EXPECT_THAT(bad(R"({"ctxs": ["a", 3]})"), HasSubstr("ctxs[1]"));
  EXPECT_THAT(bad(R"({"ctxs": [{"text": null}]})"), HasSubstr("ctxs[0].text"));
  EXPECT_THAT(bad(R"({"ctxs": [{"title": "T"}]})"), HasSubstr("ctxs[0].text"));
  EXPECT_THAT(bad(R"({"ctxs": [{"text": "a", "title": 3}]})"),
              HasSubstr("ctxs[0].title"));
  EXPECT_THAT(bad(R"({"ctxs": 3})"), HasSubstr("ctxs"));
  EXPECT_THAT(bad(R"({"context": {"title": ["T"], "sentences": []}})"),
              HasSubstr("1 titles and 0"));
  EXPECT_THAT(bad(R"({"context": [["T", ["a", 1]]]})"),
              HasSubstr("context[0][1][1]"));
  EXPECT_THAT(bad(R"({"ctxs": ["a"], "contents": ["b"]})"),
              HasSubstr("given twice"));
}

} // namespace
} // namespace kvloom::datasets
