// Derived numbers of a configuration.
#include "engine/model/model_config.hpp"

#include <gtest/gtest.h>

namespace kvloom::engine {
namespace {

TEST(model_config, kv_bytes_of_a_token) {
  model_config config;
  config.n_layers = 32;
  config.n_q_heads = 32;
  config.n_kv_heads = 8;
  config.head_dim = 128;
  EXPECT_EQ(config.kv_bytes_per_token(2), 131'072); // Llama-3-8B, Mistral-7B
  EXPECT_EQ(config.kv_bytes_per_token(4), 262'144);
  EXPECT_EQ(config.group_size(), 4);
  config.n_layers = 30;
  config.n_kv_heads = 3;
  config.head_dim = 64;
  EXPECT_EQ(config.kv_bytes_per_token(2), 23'040); // SmolLM2-135M
}

TEST(model_config, names_of_families) {
  EXPECT_STREQ(to_string(model_family::llama), "llama");
  EXPECT_STREQ(to_string(model_family::mistral), "mistral");
  EXPECT_STREQ(to_string(model_family::qwen2), "qwen2");
  EXPECT_STREQ(to_string(model_family::qwen3), "qwen3");
}

} // namespace
} // namespace kvloom::engine
