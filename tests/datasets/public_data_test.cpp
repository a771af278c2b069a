// Public data sets, where the machine has them (docs/contributing.md).
#include "datasets/dataset.hpp"
#include "tests/datasets/data_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <map>

namespace kvloom::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class public_data : public testing::Test {
protected:
  void SetUp() override {
    const auto* folder = std::getenv("KVLOOM_TEST_DATA");
    if (folder == nullptr)
      GTEST_SKIP() << "KVLOOM_TEST_DATA names no folder with data sets";
    folder_ = folder;
  }

  dataset read(const std::string& name) {
    auto data = read_dataset(folder_ / name);
    EXPECT_TRUE(data.has_value()) << to_string(data.error());
    return data ? std::move(*data) : dataset{};
  }

  std::filesystem::path folder_;
};

std::size_t n_passages(const dataset& data) {
  std::size_t n = 0;
  for (const auto& one : data.questions) n += one.passages.size();
  return n;
}

std::string listed(const nlohmann::json& row) {
  return nlohmann::json::array({row}).dump();
}

TEST_F(public_data, cacheblend) {
  const auto musique = read("cacheblend/musique_s.json");
  EXPECT_EQ(musique.questions.size(), 150U);
  EXPECT_EQ(n_passages(musique), 1500U);
  for (const auto& one : musique.questions) EXPECT_EQ(one.golds.size(), 1U);
  const auto wiki = read("cacheblend/wikimqa_s_clean.json");
  EXPECT_EQ(wiki.questions.size(), 102U);
  EXPECT_EQ(n_passages(wiki), 1020U);
  EXPECT_EQ(wiki.questions[38].golds.size(), 2U);
  std::size_t n = 0;
  for (int i = 1; i <= 10; ++i) {
    const auto one = read("cacheblend/inputs/" + std::to_string(i) + ".json");
    ASSERT_EQ(one.questions.size(), 1U);
    EXPECT_TRUE(one.questions[0].golds.empty());
    EXPECT_TRUE(one.questions[0].text.ends_with("Answer:"));
    n += n_passages(one);
  }
  EXPECT_EQ(n, 56U);
}

TEST_F(public_data, hotpotqa_in_both_shapes) {
  const auto train = read("hipporag/hotpotqa_train.json");
  EXPECT_EQ(train.questions.size(), 100U);
  EXPECT_EQ(n_passages(train), 994U);
  for (const auto& one : train.questions)
    EXPECT_GE(one.supporting.size(), 1U) << one.id;
  EXPECT_EQ(read("hipporag/hotpotqa_train_corpus.json").collection.size(),
            994U);
  EXPECT_EQ(read("hipporag/2wikimultihopqa_corpus.json").collection.size(),
            6119U);
  const auto mirror = read("hotpotqa/hotpot_reflexion_100.json");
  EXPECT_EQ(mirror.questions.size(), 100U);
  EXPECT_GE(n_passages(mirror), 992U);
}

TEST_F(public_data, lines_in_gzip) {
  const auto nq = read("nq/nq-open-oracle.jsonl.gz");
  EXPECT_EQ(nq.questions.size(), 2655U);
  EXPECT_EQ(n_passages(nq), 2655U);
  for (const auto& one : nq.questions)
    EXPECT_THAT(one.supporting, ElementsAre(0));
  const auto keys = read("kv_retrieval/kv-retrieval-75_keys.jsonl.gz");
  EXPECT_EQ(keys.questions.size(), 500U);
  EXPECT_EQ(n_passages(keys), 500U * 75U);
  EXPECT_EQ(keys.questions[0].golds.size(), 1U);
}

TEST_F(public_data, xquad) {
  for (const auto* name : {"xquad/xquad.en.json", "xquad/xquad.zh.json"}) {
    const auto data = read(name);
    EXPECT_EQ(data.questions.size(), 1190U);
    EXPECT_EQ(data.collection.size(), 240U);
    for (const auto& one : data.questions) EXPECT_EQ(one.golds.size(), 1U);
  }
}

TEST_F(public_data, what_holds_no_questions_is_refused) {
  for (const auto* name : {"mooncake/conversation_trace.jsonl.gz",
                           "ragatouille/miyazaki_wikipedia.txt"}) {
    const auto data = read_dataset(folder_ / name);
    ASSERT_FALSE(data.has_value()) << name;
    EXPECT_EQ(data.error().code, errc::bad_input);
    EXPECT_THAT(data.error().place, HasSubstr(":1"));
  }
}

TEST_F(public_data, shape_traps) {
  std::ifstream file(folder_ / "traps/shape_traps.json");
  ASSERT_TRUE(file.good());
  std::map<std::string, nlohmann::json> rows;
  for (auto& row : nlohmann::json::parse(file)) rows[row["id"]] = row;
  ASSERT_EQ(rows.size(), 13U);
  const auto one = [&](const std::string& id) {
    auto data = read_good(listed(rows.at(id)));
    EXPECT_EQ(data.questions.size(), 1U) << id;
    EXPECT_EQ(data.questions.at(0).id, id);
    return data;
  };
  const auto flat = one("plain-flat").questions[0];
  EXPECT_EQ(flat.passages.size(), 3U);
  EXPECT_EQ(one("nested-answers").questions[0].golds, flat.golds);
  EXPECT_THAT(one("string-answers").questions[0].golds, ElementsAre("1447"));
  EXPECT_THAT(one("number-answers").questions[0].golds, ElementsAre("1447"));
  EXPECT_TRUE(one("empty-ctxs").questions[0].passages.empty());
  const auto blank = one("blank-passage");
  EXPECT_EQ(blank.dropped_passages, 1U);
  EXPECT_FALSE(blank.notes.empty());
  EXPECT_EQ(blank.questions[0].passages.at(0).index, 1U);
  EXPECT_THAT(blank.questions[0].dropped_passages, ElementsAre(0));
  const auto twice = one("dup-in-question").questions[0];
  ASSERT_EQ(twice.passages.size(), 3U);
  EXPECT_EQ(twice.passages[0].text, twice.passages[2].text);
  const auto bare = one("dup-across-title").questions[0];
  EXPECT_EQ(bare.passages[0].text, flat.passages[0].text);
  EXPECT_NE(bare.passages[0].title, flat.passages[0].title);
  EXPECT_THAT(one("crlf").questions[0].passages[0].text, HasSubstr("\r\n"));
  EXPECT_TRUE(
      one("bom-nbsp").questions[0].passages[0].text.starts_with("\ufeff"));
  EXPECT_GE(one("long-unbroken").questions[0].passages[0].text.size(), 20000U);
  EXPECT_TRUE(one("no-answers").questions[0].golds.empty());
  EXPECT_THAT(
      refusal(listed(rows.at("missing-question"))),
      AllOf(HasSubstr("missing-question"), HasSubstr("field \"question\"")));
}

} // namespace
} // namespace kvloom::datasets
