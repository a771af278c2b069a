// config.json: every key that changes the arithmetic is honoured or refused.
#include "engine/files/hf_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kvloom::engine {
namespace {

using testing::HasSubstr;

json base(const char* type = "llama") {
  json config = json::parse(R"({
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 100,
    "max_position_embeddings": 256, "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": [2, 3]})");
  config["model_type"] = type;
  return config;
}

json with(json config, const char* key, const json& value) {
  config[key] = value;
  return config;
}

hf_config must_read(const json& config) {
  auto made = read_hf_config(config, "config.json");
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *made;
}

std::string refused(const json& config) {
  const auto made = read_hf_config(config, "config.json");
  EXPECT_FALSE(made) << config;
  if (made) return {};
  EXPECT_EQ(made.error().code, errc::bad_input);
  EXPECT_EQ(made.error().place, "config.json");
  return made.error().message;
}

TEST(hf_config, sizes) {
  const hf_config read = must_read(base());
  const model_config& config = read.config;
  EXPECT_EQ(config.family, model_family::llama);
  EXPECT_EQ(config.n_layers, 4);
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.n_q_heads, 8);
  EXPECT_EQ(config.n_kv_heads, 2);
  EXPECT_EQ(config.head_dim, 8);
  EXPECT_EQ(config.intermediate_size, 96);
  EXPECT_EQ(config.vocab_size, 100);
  EXPECT_EQ(config.context_length, 256);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.bos, 1);
  EXPECT_EQ(config.eos, (std::vector<token_id>{2, 3}));
  EXPECT_FALSE(read.tied);
  EXPECT_THAT(read.notes, testing::IsEmpty());
  EXPECT_EQ(must_read(with(base(), "head_dim", 32)).config.head_dim, 32);
  EXPECT_EQ(must_read(with(base(), "head_dim", nullptr)).config.head_dim, 8);
  EXPECT_EQ(
      must_read(with(base(), "num_key_value_heads", nullptr)).config.n_kv_heads,
      8);
  EXPECT_EQ(must_read(with(base(), "eos_token_id", 7)).config.eos,
            std::vector<token_id>{7});
  EXPECT_THAT(must_read(with(base(), "eos_token_id", nullptr)).config.eos,
              testing::IsEmpty());
}

TEST(hf_config, a_missing_size_is_named) {
  for (const char* key :
       {"model_type", "hidden_size", "intermediate_size", "num_hidden_layers",
        "num_attention_heads", "vocab_size", "max_position_embeddings",
        "rms_norm_eps"}) {
    json config = base();
    config.erase(key);
    EXPECT_THAT(refused(config), HasSubstr(key));
    EXPECT_THAT(refused(config), HasSubstr("missing"));
  }
}

TEST(hf_config, values_out_of_range_or_type) {
  const std::pair<const char*, json> cases[] = {
      {"hidden_size", -64},
      {"hidden_size", 0},
      {"hidden_size", "64"},
      {"hidden_size", 64.5},
      {"hidden_size", 65}, // no multiple of the heads
      {"num_hidden_layers", 1'000'000'000},
      {"num_attention_heads", 6}, // no multiple; and not of the kv heads
      {"num_key_value_heads", 3},
      {"num_key_value_heads", 0},
      {"num_key_value_heads", -2},
      {"head_dim", 7},
      {"head_dim", -8},
      {"vocab_size", 0},
      {"vocab_size", -1},
      {"vocab_size", 1e12},
      {"intermediate_size", true},
      {"max_position_embeddings", 0},
      {"rms_norm_eps", 0},
      {"rms_norm_eps", -1e-6},
      {"rms_norm_eps", "1e-6"},
      {"rope_theta", 0},
      {"rope_theta", -1},
      {"tie_word_embeddings", "no"},
      {"bos_token_id", -1},
      {"eos_token_id", -1},
      {"eos_token_id", "</s>"},
      {"eos_token_id", {{"a", 1}}},
      {"attention_bias", 1},
      {"architectures", {"LlamaForSequenceClassification"}},
      {"architectures", "LlamaForCausalLM"},
      {"sliding_window", -1},
      {"layer_types", 3},
  };
  for (const auto& [key, value] : cases)
    EXPECT_FALSE(refused(with(base(), key, value)).empty()) << key << value;
}

TEST(hf_config, families) {
  for (const auto& [type, class_name] :
       {std::pair{"llama", "LlamaForCausalLM"},
        std::pair{"mistral", "MistralForCausalLM"},
        std::pair{"qwen2", "Qwen2ForCausalLM"},
        std::pair{"qwen3", "Qwen3ForCausalLM"}}) {
    const auto read
        = must_read(with(base(type), "architectures", {class_name}));
    EXPECT_STREQ(to_string(read.config.family), type);
  }
  EXPECT_THAT(refused(base("gemma2")), HasSubstr("\"gemma2\""));
  EXPECT_THAT(refused(with(base(), "architectures", {"Qwen2ForCausalLM"})),
              HasSubstr("Qwen2ForCausalLM"));
}

TEST(hf_config, keys_of_other_arithmetic_are_refused) {
  const std::pair<const char*, json> cases[] = {
      {"hidden_act", "gelu"},
      {"quantization_config", {{"quant_method", "gptq"}}},
      {"attn_logit_softcapping", 50.0},
      {"embedding_multiplier", 12.0},
      {"num_local_experts", 8},
      {"use_qk_norm", true},
      {"partial_rotary_factor", 0.5},
      {"attention_chunk_size", 8192},
      {"no_rope_layers", {1, 1, 1, 0}},
      {"use_mrope", true},
      {"vision_config", {{"depth", 3}}},
  };
  for (const auto& [key, value] : cases)
    EXPECT_THAT(refused(with(base(), key, value)), HasSubstr(key));
  for (const auto& [key, value] :
       {std::pair<const char*, json>{"attn_logit_softcapping", nullptr},
        std::pair<const char*, json>{"embedding_multiplier", 1.0},
        std::pair<const char*, json>{"use_qk_norm", false},
        std::pair<const char*, json>{"num_local_experts", 0}})
    EXPECT_TRUE(read_hf_config(with(base(), key, value), "c")) << key;
}

TEST(hf_config, unknown_keys_are_told) {
  EXPECT_THAT(must_read(with(base(), "brand_new_key", 3)).notes,
              testing::Contains(HasSubstr("brand_new_key")));
}

TEST(hf_config, null_zero_and_absent_windows_are_full_attention) {
  const std::vector<std::int64_t> full(4, 0);
  EXPECT_EQ(must_read(base("mistral")).config.window, full);
  for (const json& value : {json(nullptr), json(0)})
    EXPECT_EQ(
        must_read(with(base("mistral"), "sliding_window", value)).config.window,
        full);
  EXPECT_EQ(
      must_read(with(base("mistral"), "sliding_window", 4096)).config.window,
      (std::vector<std::int64_t>(4, 4096)));
  EXPECT_THAT(refused(with(base("mistral"), "sliding_window", -1)),
              HasSubstr("sliding_window"));
}

TEST(hf_config, windows_of_qwen_by_layer) {
  json config = with(base("qwen2"), "sliding_window", 32);
  EXPECT_EQ(must_read(config).config.window,
            (std::vector<std::int64_t>{0, 0, 0, 0})); // not switched on
  config["use_sliding_window"] = true;
  EXPECT_THAT(refused(config), HasSubstr("max_window_layers"));
  config["max_window_layers"] = 3;
  EXPECT_EQ(must_read(config).config.window,
            (std::vector<std::int64_t>{0, 0, 0, 32}));
  config["layer_types"] = {"sliding_attention", "full_attention",
                           "sliding_attention", "full_attention"};
  EXPECT_EQ(must_read(config).config.window,
            (std::vector<std::int64_t>{32, 0, 32, 0}));
  config["use_sliding_window"] = false;
  EXPECT_THAT(refused(config), HasSubstr("use_sliding_window"));
  config["layer_types"] = {"full_attention"};
  EXPECT_THAT(refused(config), HasSubstr("layer_types"));
  config["layer_types"] = {"linear_attention", "full_attention",
                           "full_attention", "full_attention"};
  EXPECT_THAT(refused(config), HasSubstr("linear_attention"));
}

TEST(hf_config, biases_by_family) {
  const auto biases = [](const json& config) {
    const declared_biases& read = must_read(config).biases;
    return std::vector<bool>{read.qkv, read.o, read.mlp};
  };
  using set = std::vector<bool>;
  EXPECT_EQ(biases(base()), (set{false, false, false}));
  EXPECT_EQ(biases(with(base(), "attention_bias", true)),
            (set{true, true, false}));
  EXPECT_EQ(biases(with(base(), "mlp_bias", true)), (set{false, false, true}));
  EXPECT_EQ(biases(base("mistral")), (set{false, false, false}));
  EXPECT_EQ(biases(base("qwen2")), (set{true, false, false}));
  EXPECT_EQ(biases(base("qwen3")), (set{false, false, false}));
  EXPECT_EQ(biases(with(base("qwen3"), "attention_bias", true)),
            (set{true, true, false}));
}

TEST(hf_config, rotary_spellings_of_both_versions) {
  using scheme = rope_config::scheme;
  const json scaling = {{"type", "linear"}, {"factor", 4.0}};
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto read = must_read(with(base(), key, scaling));
    EXPECT_EQ(read.config.rope.kind, scheme::linear);
    EXPECT_EQ(read.config.rope.factor, 4);
    EXPECT_EQ(read.config.rope.theta, 10000);
  }
  json both = with(base(), "rope_scaling", scaling);
  both["rope_parameters"] = scaling;
  EXPECT_EQ(must_read(both).config.rope.factor, 4);
  both["rope_parameters"]["factor"] = 8.0;
  EXPECT_THAT(refused(both), HasSubstr("differ"));
  // The inner base has priority, as in transformers 5.
  const auto inner
      = must_read(with(base(), "rope_parameters",
                       {{"rope_type", "default"}, {"rope_theta", 500000.0}}));
  EXPECT_EQ(inner.config.rope.theta, 500000);
  // By layer type: the same for all, or refused.
  const json one = {{"rope_type", "default"}, {"rope_theta", 20000.0}};
  json by_layer = {{"full_attention", one}, {"sliding_attention", one}};
  EXPECT_EQ(
      must_read(with(base(), "rope_parameters", by_layer)).config.rope.theta,
      20000);
  by_layer["sliding_attention"]["rope_theta"] = 10000.0;
  EXPECT_THAT(refused(with(base(), "rope_parameters", by_layer)),
              HasSubstr("differ"));
}

TEST(hf_config, rotary_parameters_that_do_not_hold) {
  const json cases[] = {
      {{"type", "linear"}},
      {{"type", "linear"}, {"factor", 0}},
      {{"type", "linear"}, {"factor", -2.0}},
      {{"type", "linear"}, {"factor", "4"}},
      {{"type", "mrope"}, {"mrope_section", {1, 2}}},
      {{"type", "llama3"}, {"factor", 8.0}},
      {{"type", "llama3"},
       {"factor", 8.0},
       {"low_freq_factor", 4.0},
       {"high_freq_factor", 4.0}},
      {{"type", "yarn"},
       {"factor", 4.0},
       {"original_max_position_embeddings", -1}},
      {{"type", "yarn"}, {"factor", 4.0}, {"attention_factor", -1.0}},
      {{"type", "yarn"}, {"factor", 4.0}, {"beta_fast", 1}, {"beta_slow", 32}},
      {{"type", "linear"}, {"factor", 4.0}, {"long_factor", 3}},
      {{"type", "default"}, {"partial_rotary_factor", 0.25}},
      {{"type", 3}},
  };
  for (const json& scaling : cases)
    EXPECT_FALSE(refused(with(base(), "rope_scaling", scaling)).empty())
        << scaling;
  EXPECT_FALSE(refused(with(base(), "rope_scaling", "linear")).empty());
}

} // namespace
} // namespace kvloom::engine
