// Frequencies and magnitudes against Hugging Face transformers.
#include "engine/files/hf_config.hpp"
#include "engine/files/json.hpp"
#include "engine/model/rope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

struct golden_rope {
  std::string name;
  model_config config;
  std::vector<double> frequencies;
  double magnitude = 0;
  std::vector<std::int64_t> positions;
  std::vector<std::vector<double>> cosines, sines; ///< [positions, pairs]
};

std::vector<golden_rope> golden_ropes() {
  std::ifstream in(KVLOOM_SOURCE_DIR "/tests/data/files/rope.json");
  std::vector<golden_rope> all;
  for (const auto& from : json::parse(in)) {
    golden_rope to;
    to.name = from["name"];
    auto read = read_hf_config(from["config"], to.name);
    if (!read) {
      ADD_FAILURE() << to_string(read.error());
      continue;
    }
    to.config = read->config;
    from["frequencies"].get_to(to.frequencies);
    to.magnitude = from["magnitude"];
    from["positions"].get_to(to.positions);
    from["cos"].get_to(to.cosines);
    from["sin"].get_to(to.sines);
    all.push_back(std::move(to));
  }
  return all;
}

TEST(rope, frequencies_equal_transformers) {
  const auto all = golden_ropes();
  ASSERT_GE(all.size(), 15U);
  for (const golden_rope& golden : all) {
    const auto found
        = inverse_frequencies(golden.config.rope, golden.config.head_dim);
    ASSERT_EQ(found.size(), golden.frequencies.size()) << golden.name;
    for (std::size_t j = 0; j < found.size(); ++j) {
      // Two roundings of f32: the powers come from different libraries.
      EXPECT_NEAR(found[j], golden.frequencies[j],
                  2.4e-7 * golden.frequencies[j])
          << golden.name << " pair " << j;
      EXPECT_EQ(found[j], double(float(found[j]))) << golden.name;
    }
    EXPECT_NEAR(rope_magnitude(golden.config.rope), golden.magnitude, 1e-9)
        << golden.name;
  }
}

TEST(rope, rotation_equals_transformers_past_the_original_context) {
  for (const golden_rope& golden : golden_ropes()) {
    const auto frequencies
        = inverse_frequencies(golden.config.rope, golden.config.head_dim);
    const double magnitude = rope_magnitude(golden.config.rope);
    for (std::size_t p = 0; p < golden.positions.size(); ++p) {
      const auto position = static_cast<float>(golden.positions[p]);
      for (std::size_t j = 0; j < frequencies.size(); ++j) {
        const float angle = position * static_cast<float>(frequencies[j]);
        // An angle of f32 is itself uncertain by its last bits.
        const double least = 2e-6 + 2.4e-7 * double(angle);
        EXPECT_NEAR(magnitude * std::cos(double(angle)), golden.cosines[p][j],
                    magnitude * least)
            << golden.name << " position " << position << " pair " << j;
        EXPECT_NEAR(magnitude * std::sin(double(angle)), golden.sines[p][j],
                    magnitude * least)
            << golden.name << " position " << position << " pair " << j;
      }
    }
  }
}

// An explicit attention_factor is not replaced by the rule.
TEST(rope, explicit_yarn_magnitude_is_kept) {
  rope_config rope;
  rope.kind = rope_config::scheme::yarn;
  rope.factor = 64;
  rope.original_context = 4096;
  EXPECT_NEAR(rope_magnitude(rope), 1.4159, 1e-4);
  rope.attention_factor = 1.0;
  EXPECT_EQ(rope_magnitude(rope), 1.0);
}

TEST(rope, divisors_divide_the_plain_frequencies) {
  rope_config rope;
  rope.theta = 500000;
  const auto plain = inverse_frequencies(rope, 8);
  rope.freq_divisors = {1, 2, 8, 32};
  const auto divided = inverse_frequencies(rope, 8);
  for (std::size_t j = 0; j < 4; ++j)
    EXPECT_FLOAT_EQ(static_cast<float>(divided[j]),
                    static_cast<float>(plain[j]) / rope.freq_divisors[j]);
}

TEST(rope, schemes_that_depend_on_the_length_are_refused) {
  for (const char* kind : {"dynamic", "longrope", "su"}) {
    auto config = json::parse(R"({
      "model_type": "llama", "hidden_size": 64, "intermediate_size": 64,
      "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 8,
      "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
      "rope_theta": 1e4})");
    config["rope_scaling"] = {{"rope_type", kind}, {"factor", 2.0}};
    const auto read = read_hf_config(config, "config.json");
    ASSERT_FALSE(read) << kind;
    EXPECT_EQ(read.error().code, errc::bad_input);
    EXPECT_THAT(read.error().message, testing::HasSubstr(kind));
    EXPECT_THAT(read.error().message, testing::HasSubstr("length"));
  }
}

} // namespace
} // namespace kvloom::engine
