// Ids and texts equal to the reference, for every golden tokenizer.
#include "engine/tokenizer/gguf_tokenizer.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "tests/engine/tokenizer/golden_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace kvloom::engine {
namespace {

using test::golden_path;
using test::golden_strings;
using test::packed_ids;
using test::packed_text;
using test::read_golden;
using test::shown;

std::string streamed(const std::shared_ptr<const tokenizer>& words,
                     const std::vector<token_id>& ids) {
  stream_decoder stream(words);
  std::string text;
  for (const auto id : ids) text += stream.push(id);
  return text + stream.finish();
}

/// A member keyed by the place of a string, or what holds where it is absent.
nlohmann::json at_or(const nlohmann::json& list, std::size_t place,
                     nlohmann::json otherwise) {
  const auto found = list.find(std::to_string(place));
  return found == list.end() ? std::move(otherwise) : *found;
}

void expect_golden(const std::shared_ptr<const tokenizer>& words,
                   const nlohmann::json& golden) {
  EXPECT_EQ(words->size(), golden.at("size").get<std::size_t>());
  const auto bos = golden.at("bos").get<std::vector<token_id>>();
  EXPECT_EQ(words->bos(), bos.empty() ? std::nullopt : std::optional(bos[0]));
  const auto& strings = golden_strings();
  ASSERT_GE(strings.size(), 300U);
  ASSERT_EQ(strings.size(), golden.at("ids").size());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + shown(strings[i]));
    const auto ids = words->encode(strings[i]);
    ASSERT_TRUE(ids) << to_string(ids.error());
    EXPECT_EQ(packed_ids(*ids), golden.at("ids")[i]);
    const auto control = words->encode_with_control(strings[i]);
    ASSERT_TRUE(control) << to_string(control.error());
    EXPECT_EQ(packed_ids(*control),
              at_or(golden.at("control"), i, golden.at("ids")[i]));
    const auto text = words->decode(*ids);
    EXPECT_EQ(packed_text(text),
              at_or(golden.at("text"), i, packed_text(strings[i])));
    EXPECT_EQ(streamed(words, *ids), text);
    EXPECT_EQ(streamed(words, *control), words->decode(*control));
  }
  for (const auto& row : golden.at("random")) {
    const auto ids = row[0].get<std::vector<token_id>>();
    EXPECT_EQ(words->decode(ids), row[1].get<std::string>());
    EXPECT_EQ(streamed(words, ids), row[1].get<std::string>());
  }
}

class golden_tokenizer : public testing::TestWithParam<const char*> {};

TEST_P(golden_tokenizer, equals_the_reference) {
  const std::string name = GetParam();
  const auto words = load_tokenizer(golden_path(name + ".tokenizer.json"));
  ASSERT_TRUE(words) << to_string(words.error());
  expect_golden(*words, read_golden(name + ".golden.json"));
}

/// Text never gives the id of a control token, however it is spelled.
TEST_P(golden_tokenizer, text_gives_no_control_token) {
  const std::string name = GetParam();
  const auto words = load_tokenizer(golden_path(name + ".tokenizer.json"));
  ASSERT_TRUE(words) << to_string(words.error());
  const auto spec = read_golden(name + ".tokenizer.json");
  std::set<token_id> control;
  std::string all;
  for (const auto& token : spec.at("added_tokens")) {
    if (!token.at("special").get<bool>()) continue;
    const auto id = token.at("id").get<token_id>();
    // The unknown token is what unknown characters become.
    const auto content = token.at("content").get<std::string>();
    if (spec.at("model").at("unk_token") != content) control.insert(id);
    all += content + content + " " + content + "\n";
    const auto ids = (*words)->encode_with_control("x" + content + "y");
    ASSERT_TRUE(ids);
    EXPECT_EQ(std::count(ids->begin(), ids->end(), id), 1) << content;
  }
  auto strings = golden_strings();
  strings.push_back(all);
  for (const auto& text : strings) {
    const auto ids = (*words)->encode(text);
    ASSERT_TRUE(ids);
    for (const auto id : *ids)
      ASSERT_FALSE(control.contains(id)) << id << " from " << shown(text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    files, golden_tokenizer,
    testing::Values("gpt2_like", "llama3_like", "qwen2_like", "falcon_like",
                    "llama2_like", "mistral_like", "word_like"),
    [](const auto& one) { return std::string(one.param); });

TEST(golden_gguf, smollm2_equals_the_reference) {
  const char* model = std::getenv("KVLOOM_TEST_MODEL");
  if (model == nullptr)
    GTEST_SKIP() << "KVLOOM_TEST_MODEL does not name the SmolLM2 GGUF file.";
  const auto words = load_tokenizer(model);
  ASSERT_TRUE(words) << to_string(words.error());
  expect_golden(*words, read_golden("smollm2.golden.json"));
}

TEST(golden_gguf, sentencepiece_vocabulary_equals_the_reference) {
  const auto golden = read_golden("sentencepiece.golden.json");
  gguf_vocabulary file;
  file.model = "llama";
  file.tokens = golden.at("tokens").get<std::vector<std::string>>();
  file.scores = golden.at("scores").get<std::vector<float>>();
  file.types = golden.at("types").get<std::vector<std::int32_t>>();
  file.bos = golden.at("bos").get<token_id>();
  file.eos = golden.at("eos").get<token_id>();
  file.unknown = golden.at("unknown").get<token_id>();
  const auto words = make_gguf_tokenizer(file);
  ASSERT_TRUE(words) << to_string(words.error());
  EXPECT_EQ((*words)->bos(), file.bos); // the kind's default
  const auto& strings = golden_strings();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + shown(strings[i]));
    const auto ids = (*words)->encode(strings[i]);
    ASSERT_TRUE(ids) << to_string(ids.error());
    EXPECT_EQ(packed_ids(*ids), golden.at("ids")[i]);
    EXPECT_EQ(packed_text((*words)->decode(*ids)),
              at_or(golden.at("text"), i, packed_text(strings[i])));
    EXPECT_EQ(streamed(*words, *ids), (*words)->decode(*ids));
  }
}

} // namespace
} // namespace kvloom::engine
