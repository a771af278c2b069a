// SmolLM2 from its GGUF file against Hugging Face in f32, and the cheaper
// precisions against f32.
#include "engine/decode/sampling.hpp"
#include "engine/model/model_runner.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

struct golden_prompt {
  std::vector<token_id> ids;
  std::vector<token_id> greedy;
};

std::vector<golden_prompt> prompts() {
  std::ifstream in(KVLOOM_SOURCE_DIR "/tests/data/engine/golden_greedy.json");
  std::vector<golden_prompt> all;
  for (const auto& one : nlohmann::json::parse(in))
    all.push_back({one["ids"], one["greedy"]});
  return all;
}

class smollm2 : public testing::Test {
protected:
  void SetUp() override {
    const char* path = std::getenv("KVLOOM_TEST_MODEL");
    if (path == nullptr)
      GTEST_SKIP() << "KVLOOM_TEST_MODEL does not name a GGUF file of "
                      "SmolLM2-135M-Instruct";
    path_ = path;
  }

  std::shared_ptr<model_runner> load(precision compute, decode_weights decode,
                                     int threads = 0) const {
    auto made = model_runner::load(path_, {compute, decode, threads, 512});
    if (!made) throw std::runtime_error(to_string(made.error()));
    return *made;
  }

  /// Greedy ids; where `follow` is given, its ids are fed in place of the own
  /// choice, so that one difference does not make more.
  static std::vector<token_id>
  greedy(model_runner& runner, const golden_prompt& prompt,
         const std::vector<token_id>* follow = nullptr) {
    auto at = runner.start(
        static_cast<std::int64_t>(prompt.ids.size() + prompt.greedy.size()));
    if (!at) throw std::runtime_error(to_string(at.error()));
    sampler choice({}, "sampling", runner.config().vocab_size);
    const auto first = runner.extend(*at, prompt.ids);
    if (!first) throw std::runtime_error(to_string(first.error()));
    std::vector<token_id> ids = {choice.choose(*first)};
    while (ids.size() < prompt.greedy.size()) {
      sequence* const one = &*at;
      const token_id last
          = follow != nullptr ? (*follow)[ids.size() - 1] : ids.back();
      const auto logits = runner.step({&one, 1}, {&last, 1});
      if (!logits) throw std::runtime_error(to_string(logits.error()));
      ids.push_back(choice.choose(*logits));
    }
    return ids;
  }

  std::string path_;
};

TEST_F(smollm2, greedy_ids_equal_hugging_face) {
  const auto runner = load(precision::f32, decode_weights::same);
  for (const golden_prompt& prompt : prompts())
    EXPECT_EQ(greedy(*runner, prompt), prompt.greedy)
        << "prompt of " << prompt.ids.size() << " tokens";
}

TEST_F(smollm2, cheaper_weights_choose_nearly_the_same_ids) {
  for (const auto decode : {decode_weights::same, decode_weights::quantised}) {
    const auto runner = load(precision::bf16, decode);
    std::size_t same = 0;
    std::size_t all = 0;
    for (const golden_prompt& prompt : prompts()) {
      const auto ids = greedy(*runner, prompt, &prompt.greedy);
      for (std::size_t i = 0; i < ids.size(); ++i)
        same += ids[i] == prompt.greedy[i] ? 1U : 0U;
      all += ids.size();
    }
    const double share = static_cast<double>(same) / static_cast<double>(all);
    std::cout << "bf16, decode " << to_string(decode) << ": " << same << " of "
              << all << " ids equal those of f32\n";
    EXPECT_GE(share, 0.9) << to_string(decode);
  }
}

TEST_F(smollm2, threads_and_batches_do_not_change_a_bit) {
  golden_prompt prompt = prompts()[3];
  for (const auto decode : {decode_weights::same, decode_weights::quantised}) {
    std::vector<std::vector<float>> seen;
    for (const int threads : {1, 2, 4}) {
      const auto runner = load(precision::bf16, decode, threads);
      auto a = runner->start(256);
      auto b = runner->start(256);
      auto c = runner->start(256);
      ASSERT_TRUE(a && b && c);
      auto logits = *runner->extend(*a, prompt.ids);
      ASSERT_TRUE(runner->extend(*b, prompt.ids));
      ASSERT_TRUE(runner->extend(*c, std::vector<token_id>{1, 2, 3}));
      const std::vector<token_id> id = {77, 78};
      sequence* const alone = &*b;
      const auto one = *runner->step({&alone, 1}, {id.data(), 1});
      const std::vector<float> single(one.begin(), one.end());
      const std::vector<sequence*> batch = {&*a, &*c};
      const auto two = *runner->step(batch, id);
      EXPECT_TRUE(std::equal(single.begin(), single.end(), two.begin()));
      logits.insert(logits.end(), two.begin(), two.end());
      seen.push_back(std::move(logits));
    }
    EXPECT_EQ(seen[0], seen[1]) << to_string(decode);
    EXPECT_EQ(seen[0], seen[2]) << to_string(decode);
  }
}

TEST_F(smollm2, both_copies_of_the_weights_are_counted) {
  const auto same = load(precision::bf16, decode_weights::same);
  const auto quantised = load(precision::bf16, decode_weights::quantised);
  // 134.5 million weights in bf16; 98 MB as stored.
  EXPECT_GT(same->weight_bytes(), 265'000'000);
  EXPECT_LT(same->weight_bytes(), 320'000'000);
  EXPECT_GT(quantised->weight_bytes(), same->weight_bytes() + 90'000'000);
  EXPECT_EQ(same->digest(), quantised->digest());
}

} // namespace
} // namespace kvloom::engine
