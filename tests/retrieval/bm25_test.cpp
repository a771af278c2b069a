#include "retrieval/bm25.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

namespace kvloom::retrieval {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<passage> passages_of(const std::vector<std::string>& texts) {
  std::vector<passage> all;
  for (const auto& text : texts)
    all.push_back({static_cast<std::uint32_t>(all.size()), {}, {}, text, {}});
  return all;
}

std::vector<std::uint32_t> indices(const std::vector<scored_passage>& found) {
  std::vector<std::uint32_t> all;
  for (const auto& one : found) all.push_back(one.index);
  return all;
}

TEST(bm25, scores_are_those_of_the_definition) {
  std::ifstream file(KVLOOM_SOURCE_DIR
                     "/tests/data/retrieval/golden_bm25.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 16U);
  for (const auto& one : cases) {
    const auto texts = one["passages"].get<std::vector<std::string>>();
    const auto scores = one["scores"].get<std::vector<double>>();
    const auto passages = passages_of(texts);
    const auto found = bm25_index(passages).search(
        one["query"].get<std::string>(), texts.size());
    ASSERT_EQ(found.size(), texts.size());
    for (const auto& hit : found)
      EXPECT_NEAR(hit.score, scores[hit.index], 1e-12 * (1 + hit.score));
    EXPECT_TRUE(std::is_sorted(
        found.begin(), found.end(), [](const auto& a, const auto& b) {
          return a.score != b.score ? a.score > b.score : a.index < b.index;
        }));
  }
}

TEST(bm25, the_passage_with_the_words_comes_first) {
  const auto passages = passages_of(
      {"The harbour town of Veldmar was founded in 1412 by a shipwright.",
       "Odo Renk was born in the valley of Sarn.",
       "The river Ull floods each April."});
  const bm25_index index(passages);
  EXPECT_EQ(index.search("Which river floods in APRIL?", 1).at(0).index, 2U);
  EXPECT_EQ(index.search("Where was Odo Renk born?", 1).at(0).index, 1U);
}

TEST(bm25, titles_count) {
  std::vector<passage> passages = passages_of({"one two", "one two"});
  passages[1].title = "Veldmar";
  EXPECT_EQ(bm25_index(passages).search("veldmar", 1).at(0).index, 1U);
}

TEST(bm25, exactly_k_distinct_come_back) {
  std::vector<std::string> texts;
  for (int i = 0; i < 800; ++i)
    texts.push_back(i % 7 == 0 ? "word " + std::to_string(i) : "other");
  const auto passages = passages_of(texts);
  const bm25_index index(passages);
  for (const std::size_t k : {0U, 1U, 10U, 200U, 800U, 801U, 100000U}) {
    const auto found = indices(index.search("word", k));
    EXPECT_EQ(found.size(), std::min<std::size_t>(k, 800));
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  }
}

TEST(bm25, ties_and_passages_without_a_shared_word_come_by_index) {
  const auto passages = passages_of({"x", "word", "y", "word", "word"});
  const bm25_index index(passages);
  EXPECT_THAT(indices(index.search("word", 9)), ElementsAre(1, 3, 4, 0, 2));
  EXPECT_THAT(indices(index.search("", 9)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(index.search("word", 9).back().score, 0);
}

TEST(bm25, the_callers_indices_come_back) {
  auto passages = passages_of({"a", "word", "b"});
  passages[0].index = 10;
  passages[1].index = 7;
  passages[2].index = 400;
  const bm25_index index(passages);
  EXPECT_THAT(indices(index.search("word", 3)), ElementsAre(7, 10, 400));
  const std::vector<std::uint32_t> allowed{400, 10, 10, 99};
  EXPECT_THAT(indices(index.search("word", 3, allowed)), ElementsAre(10, 400));
}

TEST(bm25, the_allow_list_comes_before_the_cut) {
  std::vector<std::string> texts(100, "word word");
  texts[90] = "word and many other things that make it long";
  const auto passages = passages_of(texts);
  const bm25_index index(passages);
  const std::vector<std::uint32_t> allowed{90, 95};
  const auto found = index.search("word", 2, allowed);
  EXPECT_THAT(indices(found), ElementsAre(95, 90));
  // What is allowed changes no score.
  for (const auto& one : index.search("word", 100))
    for (const auto& hit : found) {
      if (hit.index == one.index) {
        EXPECT_EQ(hit.score, one.score);
      }
    }
}

TEST(bm25, tiny_collections_are_searched) {
  EXPECT_THAT(bm25_index({}).search("word", 3), IsEmpty());
  const auto one = passages_of({"This is a test."});
  EXPECT_THAT(indices(bm25_index(one).search("test", 10)), ElementsAre(0));
  const auto wordless = passages_of({"...", "—"});
  EXPECT_THAT(indices(bm25_index(wordless).search("test", 10)),
              ElementsAre(0, 1));
}

TEST(bm25, equal_passages_are_two) {
  const auto passages = passages_of({"word", "x", "word"});
  const auto found = bm25_index(passages).search("word", 2);
  EXPECT_THAT(indices(found), ElementsAre(0, 2));
  EXPECT_EQ(found[0].score, found[1].score);
}

TEST(bm25, the_order_of_the_span_changes_nothing) {
  auto passages = passages_of({"a b", "b c", "c d", "d a", "a c"});
  const auto before = bm25_index(passages).search("a c", 5);
  std::reverse(passages.begin(), passages.end());
  const auto after = bm25_index(passages).search("a c", 5);
  ASSERT_EQ(indices(before), indices(after));
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].score, after[i].score);
}

TEST(bm25, many_threads_search_one_index) {
  const auto passages = passages_of({"a b", "b c", "c d", "d a", "a c"});
  const bm25_index index(passages);
  const auto wanted = indices(index.search("a c", 5));
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (std::size_t t = 0; t < same.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i)
        same[t] += indices(index.search("a c", 5)) == wanted ? 1 : 0;
    });
  for (auto& one : threads) one.join();
  EXPECT_THAT(same, testing::Each(500));
}

} // namespace
} // namespace kvloom::retrieval
