#include "actors/nodes/retriever.hpp"
#include "tests/actors/run_plans.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

namespace {

std::vector<std::uint32_t> indices_of(const retrieved& found) {
  std::vector<std::uint32_t> all;
  for (const auto& one : found.passages) all.push_back(one->index);
  return all;
}

std::shared_ptr<datasets::dataset> rivers() {
  auto data = some_questions(1, 0);
  auto& asked = data->questions[0];
  asked.text = "Which river floods Sarn?";
  asked.passages = {{0, "a", "", "Bread is baked in the morning.", {}},
                    {2, "b", "", "The river Ull floods Sarn each April.", {}},
                    {5, "c", "", "Sarn lies on a river.", {}}};
  return data;
}

} // namespace

TEST(passage_search, keeps_the_indices_of_the_data) {
  const auto data = rivers();
  const auto found
      = passage_search(retriever_options{2, false})({a_request(data, 0), 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(indices_of(*found), (std::vector<std::uint32_t>{2, 5}));
  ASSERT_EQ(found->ranking.size(), 2u);
  EXPECT_EQ(found->ranking[0].index, 2u);
  EXPECT_GE(found->ranking[0].score, found->ranking[1].score);
  EXPECT_GE(found->retrieve_ns, 0);
}

TEST(passage_search, gives_all_there_are_if_fewer) {
  const auto data = rivers();
  const auto found
      = passage_search(retriever_options{9, true})({a_request(data, 0), 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(indices_of(*found), (std::vector<std::uint32_t>{0, 2, 5}));
  EXPECT_EQ(found->ranking[0].index, 2u); // the ranking stays best first
}

TEST(passage_search, a_question_without_passages_has_none) {
  const auto data = some_questions(1, 0);
  const auto found
      = passage_search(retriever_options{})({a_request(data, 0), 0});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->passages.empty());
}

TEST(passage_search, ids_are_taken_whole_or_refused) {
  const auto data = some_questions(1, 0);
  data->questions[0].passages = {{0, "", "", "", {1, 2}}, {1, "", "", "", {3}}};
  const auto all
      = passage_search(retriever_options{2, false})({a_request(data, 0), 0});
  ASSERT_TRUE(all);
  EXPECT_EQ(indices_of(*all), (std::vector<std::uint32_t>{0, 1}));
  const auto some
      = passage_search(retriever_options{1, false})({a_request(data, 0), 0});
  ASSERT_FALSE(some);
  EXPECT_EQ(some.error().code, errc::bad_input);
  EXPECT_NE(some.error().message.find("top_k"), std::string::npos);
}

TEST(collection_of, has_each_passage_once) {
  const auto data = some_questions(2, 2);
  data->questions[1].passages[0] = data->questions[0].passages[1];
  const auto all = collection_of(*data);
  ASSERT_EQ(all.passages.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(all.passages[i].index, i);
  using origin = std::pair<std::string, std::uint32_t>;
  EXPECT_EQ(all.origins,
            (std::vector<origin>{{"q0", 0}, {"q0", 1}, {"q1", 1}}));
}

TEST(passage_search, searches_a_collection) {
  const auto data = rivers();
  data->questions.push_back(data->questions[0]);
  data->questions[1].passages = {{0, "", "", "Nothing of use.", {}}};
  const passage_search search(retriever_options{1, false},
                              collection_of(*data));
  const auto found = search({a_request(data, 1), 0});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->passages.size(), 1u);
  EXPECT_EQ(found->passages[0]->id, "b");
  ASSERT_EQ(found->ranking.size(), 1u);
  EXPECT_EQ(found->ranking[0].of_question, data->questions[0].id);
  EXPECT_EQ(found->ranking[0].index, 2u); // in the list of that question
}
