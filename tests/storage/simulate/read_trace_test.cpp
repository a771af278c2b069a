#include "storage/simulate/read_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvloom::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(read_trace, reads_chunks_with_ids_of_both_kinds) {
  const auto read = read_trace(
      R"({"chunks": [{"id": "a", "tokens": 5}, {"id": 7, "tokens": 9}]})"
      "\n\n"
      R"({"id": "q2", "chunks": [{"id": 7, "tokens": 9}]})"
      "\r\n"
      R"({"chunks": []})",
      "t.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->tokens, ElementsAre(5, 9));
  EXPECT_THAT(read->uses, ElementsAre(0, 1, 1));
  EXPECT_THAT(read->first_use, ElementsAre(0, 2, 3, 3));
}

TEST(read_trace, reads_blocks_of_512_tokens_the_last_with_the_rest) {
  const auto read = read_trace(
      R"({"timestamp": 0, "input_length": 1100, "hash_ids": [4, 5, 6]})"
      "\n"
      R"({"timestamp": 3, "input_length": 1024, "hash_ids": [4, 5]})",
      "t");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->tokens, ElementsAre(512, 512, 76));
  EXPECT_THAT(read->uses, ElementsAre(0, 1, 2, 0, 1));
}

TEST(read_trace, a_chunk_named_twice_in_a_request_is_one_use) {
  const auto read
      = read_trace(R"({"chunks": [{"id":1,"tokens":2},{"id":2,"tokens":2},)"
                   R"({"id":1,"tokens":2}]})"
                   "\n"
                   R"({"chunks": [{"id":1,"tokens":2}]})",
                   "t");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->uses, ElementsAre(0, 1, 0));
}

TEST(read_trace, says_where_and_what_is_wrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nonsense", "no JSON"},
      {"[1]", "wanted an object"},
      {"{}", "`hash_ids`"},
      {R"({"chunks": [], "hash_ids": []})", "either"},
      {R"({"chunks": 5})", "`chunks` is 5"},
      {R"({"chunks": [5]})", "found the chunk 5"},
      {R"({"chunks": [{"id": 1}]})", "tokens"},
      {R"({"chunks": [{"id": 1, "tokens": 0}]})", "`tokens` is 0"},
      {R"({"chunks": [{"id": 1, "tokens": 1.5}]})", "`tokens` is 1.5"},
      {R"({"chunks": [{"id": 1, "tokens": 18446744073709551615}]})",
       "`tokens` is 18446744073709551615"},
      {R"({"chunks": [{"id": 1.5, "tokens": 4}]})", "the id 1.5"},
      {R"({"chunks": [{"id": null, "tokens": 4}]})", "the id null"},
      {R"({"hash_ids": [1]})", "`input_length` is missing"},
      {R"({"hash_ids": 1, "input_length": 3})", "`hash_ids` is 1"},
      {R"({"hash_ids": [1], "input_length": -3})", "`input_length` is -3"},
      {R"({"hash_ids": [1], "input_length": 513})", "has 2 of 512"},
      {R"({"chunks": [{"id": "x", "tokens": 4}]})", "on line 1"},
  };
  for (const auto& [line, message] : cases) {
    const auto read = read_trace(R"({"chunks": [{"id": "x", "tokens": 3}]})"
                                 "\n\n"
                                     + line + "\n",
                                 "t.jsonl");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().code, errc::bad_input);
    EXPECT_EQ(read.error().place, "t.jsonl:3");
    EXPECT_THAT(read.error().message, HasSubstr(message)) << line;
  }
}

TEST(read_trace, a_text_without_requests_is_refused) {
  for (const auto* text : {"", "\n \n"}) {
    const auto read = read_trace(text, "t.jsonl");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, errc::bad_input);
    EXPECT_EQ(read.error().place, "t.jsonl");
  }
}

} // namespace
} // namespace kvloom::storage
