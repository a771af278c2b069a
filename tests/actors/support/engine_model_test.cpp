#include "actors/support/engine_model.hpp"
#include "graphs/check/load_run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace kvloom;
using namespace kvloom::actors;

namespace {

graphs::graph sections(const std::string& path) {
  graphs::graph wiring;
  for (const auto& spec : graphs::model_params())
    if (spec.fallback) wiring.model.set(spec.name, {*spec.fallback, {}});
  wiring.model.set("path", {path, {}});
  for (const auto& spec : graphs::prompt_params())
    if (spec.fallback) wiring.prompt.set(spec.name, {*spec.fallback, {}});
  return wiring;
}

} // namespace

TEST(engine_model, a_missing_model_is_named) {
  const auto model = load_engine_model(sections("nowhere.gguf"));
  ASSERT_FALSE(model);
  EXPECT_EQ(exit_code(model.error().code), 3);
  EXPECT_NE(to_string(model.error()).find("nowhere.gguf"), std::string::npos);
}

TEST(engine_model, answers_as_the_engine_does) {
  const char* path = std::getenv("KVLOOM_TEST_MODEL");
  if (path == nullptr) GTEST_SKIP() << "KVLOOM_TEST_MODEL names no model";
  const auto loaded = load_engine_model(sections(path));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  auto& model = **loaded;
  EXPECT_EQ(model.digests().at("model").size(), 64u);
  EXPECT_EQ(model.settings().at("decode_weights"), "quantised");
  question asked;
  asked.id = "a";
  asked.text = "Where was Odo Renk born?";
  const passage place{0, "", "Odo Renk", "Odo Renk was born in Sarn.", {}};
  const passage* passages[] = {&place};
  const auto prompt = model.build_prompt(asked, passages);
  ASSERT_TRUE(prompt) << to_string(prompt.error());
  EXPECT_EQ(prompt->segments.front().role, engine::segment_role::opening);
  EXPECT_EQ(prompt->segments.back().role, engine::segment_role::closing);

  // In one piece and in segments: the same first token.
  const auto first_token = [&](bool split) {
    auto kv = *model.start(static_cast<std::int64_t>(prompt->size()) + 8);
    const auto ids = prompt->ids();
    const std::size_t cut
        = split ? ids.size() - prompt->segments.back().ids.size() : 0;
    if (split) {
      EXPECT_TRUE(model.extend(*kv, std::span(ids).first(cut), false, nullptr));
    }
    const auto logits
        = model.extend(*kv, std::span(ids).subspan(cut), true, nullptr);
    EXPECT_TRUE(logits);
    EXPECT_EQ(logits->size(), model.vocabulary_size());
    EXPECT_EQ(kv->length(), static_cast<std::int64_t>(ids.size()));
    const auto chosen = model.new_chooser({}, "test")->choose(*logits);
    EXPECT_EQ(model.largest(*logits, 1).at(0).first, chosen);
    return chosen;
  };
  EXPECT_EQ(first_token(false), first_token(true));
}
