// GGUF: keys, structure, configuration and vocabulary.
#include "engine/files/checkpoint.hpp"
#include "engine/files/gguf_reader.hpp"
#include "engine/tokenizer/gguf_vocabulary.hpp"
#include "tests/support/gguf_builder.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"
#include "tests/support/tiny_vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

using namespace test_support;
using testing::HasSubstr;

class gguf : public testing::Test {
protected:
  std::filesystem::path path_of(const std::string& bytes) const {
    auto path = folder_ / "model.gguf";
    write_file(path, bytes);
    return path;
  }

  result<gguf_file> read(const std::string& bytes) const {
    auto map = file_map::open(path_of(bytes));
    if (!map) return pass_on(map);
    return gguf_file::read(*map);
  }

  /// The message of a refusal; its place is the file.
  std::string refused(const std::string& bytes) const {
    const auto made = read(bytes);
    EXPECT_FALSE(made);
    if (made) return {};
    EXPECT_EQ(made.error().code, errc::environment);
    EXPECT_THAT(made.error().place, HasSubstr("model.gguf"));
    return made.error().message;
  }

private:
  temp_folder folder_;
};

TEST_F(gguf, values_by_key_and_type) {
  gguf_builder file;
  file.text("a.text", "words").count("a.count", 7).real("a.real", 0.5F);
  file.truth("a.truth", true).texts("a.texts", {"x", "", "yz"});
  file.counts("a.counts", {-1, 2}).reals("a.reals", {0.25F});
  file.raw("a.large", gguf_builder::u64, bytes_of(~std::uint64_t{0}));
  file.raw("a.small", gguf_builder::i8, bytes_of(std::int8_t{-3}));
  const auto made = read(file.bytes());
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(*made->text("a.text"), "words");
  EXPECT_EQ(*made->integer("a.count"), 7);
  EXPECT_EQ(*made->integer("a.small"), -3);
  EXPECT_EQ(*made->number("a.real"), 0.5);
  EXPECT_EQ(*made->number("a.count"), 7.0);
  EXPECT_EQ(*made->boolean("a.truth"), true);
  EXPECT_EQ(*made->texts("a.texts"), (std::vector<std::string>{"x", "", "yz"}));
  EXPECT_EQ(*made->integers("a.counts"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(*made->floats("a.reals"), std::vector<float>{0.25F});
  EXPECT_EQ(*made->integer("absent"), std::nullopt);
  EXPECT_THAT(*made->texts("absent"), testing::IsEmpty());

  for (const auto& wrong :
       {made->integer("a.text").error(), made->integer("a.large").error(),
        made->number("a.truth").error(), made->boolean("a.count").error(),
        made->text("a.real").error(), made->texts("a.counts").error(),
        made->integers("a.reals").error(), made->floats("a.counts").error()}) {
    EXPECT_THAT(wrong.message, HasSubstr("\"a."));
    EXPECT_THAT(wrong.message, HasSubstr("wanted"));
  }
}

TEST_F(gguf, shapes_have_the_slowest_axis_first) {
  gguf_builder file;
  file.tensor("matrix", 0, {3, 2}, std::string(24, 'x'));
  file.tensor("vector", 1, {5}, std::string(10, 'y'));
  for (const std::uint32_t version : {2U, 3U}) {
    auto made = read(file.bytes(version));
    ASSERT_TRUE(made) << to_string(made.error());
    ASSERT_EQ(made->tensors().size(), 2U);
    EXPECT_EQ(made->tensors()[0].second.shape,
              (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(made->tensors()[0].second.n_bytes, 24U);
    EXPECT_EQ(static_cast<char>(*made->tensors()[1].second.bytes), 'y');
    EXPECT_EQ(made->tensors()[1].second.type, dtype::f16);
  }
}

TEST_F(gguf, versions) {
  EXPECT_THAT(refused(gguf_builder().bytes(1)), HasSubstr("version 1"));
  EXPECT_THAT(refused(gguf_builder().bytes(4)), HasSubstr("version 4"));
  EXPECT_THAT(refused(gguf_builder().bytes(3U << 24U)),
              HasSubstr("big-endian"));
}

// A length of 2^63 in a file of 43 bytes.
TEST_F(gguf, lengths_beyond_the_file_are_refused_at_once) {
  gguf_builder array;
  array.raw("a", gguf_builder::array,
            bytes_of(std::uint32_t{gguf_builder::u8})
                + bytes_of(std::uint64_t{1} << 63U));
  EXPECT_THAT(refused(array.bytes(3, 1)), HasSubstr("9223372036854775808"));
  for (const std::uint32_t element :
       {0U, 4U, 8U, 9U, 10U, 12U}) // every size, text, array
    for (const std::uint64_t count :
         {std::uint64_t{1} << 30U, std::uint64_t{1} << 61U,
          (std::uint64_t{1} << 61U) + 1, ~std::uint64_t{0}}) {
      gguf_builder file;
      file.raw("key", gguf_builder::array,
               bytes_of(element) + bytes_of(count) + "some bytes behind it");
      EXPECT_THAT(refused(file.bytes()), HasSubstr(std::to_string(count)));
    }
  gguf_builder text;
  text.raw("key", gguf_builder::string, bytes_of(std::uint64_t{1} << 30U));
  EXPECT_THAT(refused(text.bytes()), HasSubstr("1073741824"));
}

TEST_F(gguf, counts_beyond_the_file_are_refused_at_once) {
  for (const std::uint64_t many :
       {std::uint64_t{1000}, (std::uint64_t{1} << 63U) / 40 - 1,
        std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    gguf_builder tensors, keys;
    tensors.n_tensors = many;
    keys.n_keys = many;
    EXPECT_THAT(refused(tensors.bytes()), HasSubstr(std::to_string(many)));
    EXPECT_THAT(refused(keys.bytes()), HasSubstr(std::to_string(many)));
  }
}

TEST_F(gguf, alignment_is_a_bounded_power_of_two) {
  for (const std::uint32_t wrong : {0U, 3U, 48U, 1U << 21U, 1U << 30U}) {
    gguf_builder file;
    file.count("general.alignment", wrong);
    EXPECT_THAT(refused(file.bytes()), HasSubstr(std::to_string(wrong)));
  }
  gguf_builder file;
  file.count("general.alignment", 64).tensor("t", 0, {2}, "12345678");
  const auto made = read(file.bytes(3, 64));
  EXPECT_TRUE(made) << to_string(made.error());
}

TEST_F(gguf, repeated_keys_and_tensors) {
  gguf_builder keys;
  keys.count("same", 1).count("same", 2);
  EXPECT_THAT(refused(keys.bytes()), HasSubstr("\"same\""));
  const tiny_model model = make_tiny_model({.layers = 1});
  std::string bytes = gguf_bytes(model);
  const auto at = bytes.find("blk.0.attn_k.weight");
  bytes[at + std::string("blk.0.attn_").size()] = 'q'; // a second attn_q
  const auto made = open_checkpoint(path_of(bytes));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("occurs twice"));
}

TEST_F(gguf, tensors_that_do_not_fit) {
  const auto one = [&](const std::vector<std::uint64_t>& shape,
                       std::uint64_t offset, std::uint32_t type = 0) {
    gguf_builder file;
    file.tensor("good", 0, {16}, std::string(64, 'x'));
    file.entry("bad", type, shape, offset);
    return refused(file.bytes());
  };
  EXPECT_THAT(one({16}, 32), HasSubstr("\"bad\""));            // past the end
  EXPECT_THAT(one({8}, 0), HasSubstr("overlaps"));             // on the first
  EXPECT_THAT(one({4}, 8), HasSubstr("alignment"));            // crooked
  EXPECT_THAT(one({4}, ~std::uint64_t{31}), HasSubstr("bad")); // wraps around
  EXPECT_THAT(one({0}, 0), HasSubstr("axis of 0"));
  EXPECT_THAT(one({1ULL << 62U, 1ULL << 62U}, 0), HasSubstr("bad"));
  EXPECT_THAT(one({1ULL << 62U, 4}, 0), HasSubstr("bad")); // bytes overflow
  EXPECT_THAT(one({1ULL << 63U}, 0), HasSubstr("bad"));
  EXPECT_THAT(one({}, 0), HasSubstr("0 axes"));
  EXPECT_THAT(one({1, 1, 1, 1, 1}, 0), HasSubstr("5 axes"));
  EXPECT_THAT(one({31}, 0, 8), HasSubstr("multiples of 32"));
  EXPECT_THAT(one({8}, 0, 77), HasSubstr("type number 77"));
}

TEST_F(gguf, a_type_that_kvloom_has_not_is_named) {
  const tiny_model model
      = make_tiny_model(wide_options(model_family::llama, dtype::q4_k));
  std::string bytes = gguf_bytes(model);
  // Q5_K (13) has larger blocks; IQ3_S would too. The size check comes first
  // only if it does not fit, so a smaller one is used: Q3_K (11).
  const std::string name = "blk.0.ffn_up.weight";
  const auto at = bytes.find(name) + name.size() + 4 + 16;
  ASSERT_EQ(bytes.substr(at, 4), bytes_of(std::uint32_t{12}));
  bytes.replace(at, 4, bytes_of(std::uint32_t{11}));
  const auto made = open_checkpoint(path_of(bytes));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::bad_input);
  EXPECT_THAT(made.error().message, HasSubstr("Q3_K"));
  EXPECT_THAT(made.error().message, HasSubstr(name));
}

// --- configuration ---------------------------------------------------------

class gguf_configuration : public gguf {
protected:
  /// The sizes of a model of architecture `arch` that `edit` may add to.
  static gguf_builder sizes(const std::string& arch = "llama") {
    gguf_builder file;
    file.text("general.architecture", arch)
        .count(arch + ".block_count", 2)
        .count(arch + ".context_length", 128)
        .count(arch + ".embedding_length", 64)
        .count(arch + ".feed_forward_length", 96)
        .count(arch + ".attention.head_count", 4)
        .count(arch + ".attention.head_count_kv", 2)
        .real(arch + ".attention.layer_norm_rms_epsilon", 1e-6F)
        .real(arch + ".rope.freq_base", 50000.0F);
    return file;
  }

  /// Opens a model without tensors: what is refused before they are sought.
  error refused_key(const gguf_builder& file) const {
    const auto made = open_checkpoint(path_of(file.bytes()));
    EXPECT_FALSE(made);
    return made ? error{} : made.error();
  }

  static constexpr const char* no_tensors = "token_embd.weight";
};

TEST_F(gguf_configuration, families) {
  EXPECT_THAT(refused_key(gguf_builder{}).message,
              HasSubstr("general.architecture"));
  for (const char* arch : {"llama", "qwen2", "qwen3"})
    EXPECT_THAT(refused_key(sizes(arch)).message, HasSubstr(no_tensors));
  const error what = refused_key(sizes("gemma2"));
  EXPECT_EQ(what.code, errc::bad_input);
  EXPECT_THAT(what.message, HasSubstr("\"gemma2\""));
}

TEST_F(gguf_configuration, missing_sizes_have_no_default) {
  for (const char* key : {"block_count", "context_length", "embedding_length",
                          "feed_forward_length", "attention.head_count",
                          "attention.layer_norm_rms_epsilon"}) {
    std::string bytes = sizes().bytes();
    const auto at = bytes.find("llama." + std::string(key));
    bytes[at] = 'x';
    const auto made = open_checkpoint(path_of(bytes));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr(key));
    EXPECT_THAT(made.error().message, HasSubstr("missing"));
  }
}

TEST_F(gguf_configuration, sizes_out_of_range) {
  for (const auto& [key, text] :
       {std::pair{"attention.key_length", "head size"},
        std::pair{"vocab_size", "vocabulary"}}) {
    auto file = sizes();
    file.count("llama." + std::string(key), 0xfffffff3U);
    EXPECT_THAT(refused_key(file).message, HasSubstr(text));
  }
  auto negative = sizes();
  negative.raw("llama.attention.key_length", gguf_builder::i32,
               bytes_of(std::int32_t{-64}));
  EXPECT_THAT(refused_key(negative).message, HasSubstr("-64"));
  auto typed = sizes();
  typed.text("llama.attention.key_length", "64");
  EXPECT_THAT(refused_key(typed).message, HasSubstr("an integer was wanted"));
}

TEST_F(gguf_configuration, keys_that_change_the_arithmetic) {
  using edit = std::function<void(gguf_builder&)>;
  const std::pair<const char*, edit> refusals[] = {
      {"attn_logit_softcapping",
       [](auto& f) { f.real("llama.attn_logit_softcapping", 50); }},
      {"expert_count", [](auto& f) { f.count("llama.expert_count", 8); }},
      {"logit_scale", [](auto& f) { f.real("llama.logit_scale", 0.25F); }},
      {"attention.causal",
       [](auto& f) { f.truth("llama.attention.causal", false); }},
      {"rope.dimension_count",
       [](auto& f) { f.count("llama.rope.dimension_count", 8); }},
      {"attention.value_length",
       [](auto& f) { f.count("llama.attention.value_length", 8); }},
      {"rope.scaling.type",
       [](auto& f) { f.text("llama.rope.scaling.type", "longrope"); }},
      {"rope.scaling.attn_factor",
       [](auto& f) { f.real("llama.rope.scaling.attn_factor", 2); }},
      {"attention.sliding_window",
       [](auto& f) {
         f.raw("llama.attention.sliding_window", gguf_builder::i32,
               bytes_of(std::int32_t{-1}));
       }},
      {"attention.head_count_kv",
       [](auto& f) {
         f.counts("llama.attention.head_count_kv", {2, 1});
       }},
  };
  for (const auto& [key, change] : refusals) {
    gguf_builder file;
    if (std::string(key) == "attention.head_count_kv") {
      file.text("general.architecture", "llama")
          .count("llama.block_count", 2)
          .count("llama.context_length", 128)
          .count("llama.embedding_length", 64)
          .count("llama.feed_forward_length", 96)
          .count("llama.attention.head_count", 4)
          .real("llama.attention.layer_norm_rms_epsilon", 1e-6F);
    } else {
      file = sizes();
    }
    change(file);
    const error what = refused_key(file);
    EXPECT_EQ(what.code, errc::bad_input) << key;
    EXPECT_THAT(what.message, HasSubstr(key));
  }
  auto off = sizes();
  off.count("llama.expert_count", 0).real("llama.logit_scale", 1);
  EXPECT_THAT(refused_key(off).message, HasSubstr(no_tensors));
}

TEST_F(gguf_configuration, parts_of_models_are_refused) {
  auto adapter = sizes();
  adapter.text("general.type", "adapter");
  EXPECT_THAT(refused_key(adapter).message, HasSubstr("\"adapter\""));
  auto part = sizes();
  part.raw("split.count", gguf_builder::u16, bytes_of(std::uint16_t{3}));
  EXPECT_THAT(refused_key(part).message, HasSubstr("3 parts"));
}

/// A whole tiny model with more keys, opened.
class gguf_model : public gguf {
protected:
  result<std::shared_ptr<const checkpoint>>
  open_with(const gguf_builder& more, const tiny_options& options = {}) const {
    std::string bytes = gguf_bytes(make_tiny_model(options));
    // Keys go in front of the first key; the head counts them.
    const std::string head = more.bytes(3, 1);
    std::uint64_t n_keys = 0;
    std::memcpy(&n_keys, bytes.data() + 16, 8);
    n_keys += more.n_keys;
    const std::string keys = head.substr(24);
    // The data keeps its alignment where the keys are whole steps of 32.
    EXPECT_EQ(keys.size() % 32, 0U);
    bytes.replace(16, 8, bytes_of(n_keys));
    bytes.insert(24, keys);
    return open_checkpoint(path_of(bytes));
  }

  /// Fills the keys up to a multiple of 32 bytes.
  static gguf_builder filled(gguf_builder more) {
    const std::size_t used = more.bytes(3, 1).size() - 24;
    // A text key: length, name, type, length, text.
    const std::size_t least = 8 + 12 + 4 + 8;
    const std::size_t pad = (32 - (used + least) % 32) % 32;
    more.text("general.fill", std::string(pad, '.'));
    return more;
  }
};

TEST_F(gguf_model, rotary_scaling) {
  using scheme = rope_config::scheme;
  gguf_builder linear;
  linear.text("llama.rope.scaling.type", "linear")
      .real("llama.rope.scaling.factor", 4);
  const auto a = open_with(filled(linear));
  ASSERT_TRUE(a) << to_string(a.error());
  EXPECT_EQ((*a)->config.rope.kind, scheme::linear);
  EXPECT_EQ((*a)->config.rope.factor, 4);

  gguf_builder yarn;
  yarn.text("llama.rope.scaling.type", "yarn")
      .real("llama.rope.scaling.factor", 4)
      .count("llama.rope.scaling.original_context_length", 128)
      .real("llama.rope.scaling.attn_factor", 0.5F);
  const auto b = open_with(filled(yarn));
  ASSERT_TRUE(b) << to_string(b.error());
  EXPECT_EQ((*b)->config.rope.kind, scheme::yarn);
  EXPECT_EQ((*b)->config.rope.original_context, 128);
  // The factor multiplies the rule in this format.
  EXPECT_NEAR((*b)->config.rope.attention_factor.value_or(0),
              0.5 * (0.1 * std::log(4.0) + 1), 1e-12);

  gguf_builder none;
  none.text("llama.rope.scaling.type", "none")
      .real("llama.rope.scaling.factor", 4);
  const auto c = open_with(filled(none));
  ASSERT_TRUE(c) << to_string(c.error());
  EXPECT_EQ((*c)->config.rope.kind, scheme::plain);
}

TEST_F(gguf_model, a_window_makes_a_mistral) {
  for (const auto& [window, family] : {std::pair{0U, model_family::llama},
                                       std::pair{8U, model_family::mistral}}) {
    gguf_builder more;
    more.count("llama.attention.sliding_window", window);
    const auto made = open_with(filled(more));
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ((*made)->config.family, family);
    EXPECT_EQ((*made)->config.window, (std::vector<std::int64_t>(2, window)));
  }
}

TEST_F(gguf_model, every_end_of_an_answer) {
  gguf_builder more;
  more.count("tokenizer.ggml.eot_token_id", 3)
      .count("tokenizer.ggml.eom_token_id",
             std::numeric_limits<std::uint32_t>::max());
  const auto made = open_with(filled(more));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ((*made)->config.eos,
            (std::vector<token_id>{tiny_words().message_end, 3}));
}

TEST_F(gguf_model, an_unknown_key_is_told) {
  gguf_builder more;
  more.count("llama.something.new", 3);
  const auto made = open_with(filled(more));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_THAT((*made)->notes,
              testing::Contains(HasSubstr("llama.something.new")));
}

// Rows come from the axis of outputs, never from the hidden one.
TEST_F(gguf_model, the_vocabulary_is_the_slow_axis) {
  std::string bytes = gguf_bytes(make_tiny_model({}));
  const auto at = bytes.find("llama.vocab_size");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 16, "general.no_vocab");
  const auto made = open_checkpoint(path_of(bytes));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ((*made)->config.vocab_size,
            static_cast<std::int64_t>(tiny_words().tokens.size()));
  EXPECT_EQ((*made)->embedding.columns(), 64);
}

// Llama 3.1 and later: the writer puts the scaling into divisors.
TEST_F(gguf_model, divisors_of_frequencies) {
  const auto with = [&](const std::vector<float>& divisors) {
    std::string bytes;
    for (const float divisor : divisors) bytes += bytes_of(divisor);
    tiny_model model = make_tiny_model({.layers = 1});
    model.tensors.push_back({"rope_freqs.weight",
                             dtype::f32,
                             {static_cast<std::int64_t>(divisors.size())},
                             bytes});
    return open_checkpoint(path_of(gguf_bytes(model)));
  };
  std::vector<float> divisors(16, 1.0F);
  divisors.back() = 8;
  const auto made = with(divisors);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ((*made)->config.rope.freq_divisors, divisors);
  divisors.back() = 0;
  EXPECT_THAT(with(divisors).error().message, HasSubstr("rope_freqs"));
  divisors.back() = NAN;
  EXPECT_THAT(with(divisors).error().message, HasSubstr("rope_freqs"));
  divisors.pop_back();
  EXPECT_THAT(with(divisors).error().message, HasSubstr("[15]"));
}

// --- vocabulary ------------------------------------------------------------

TEST_F(gguf, vocabulary_of_a_tiny_model) {
  const auto words
      = read_gguf_vocabulary(path_of(gguf_bytes(make_tiny_model({}))));
  ASSERT_TRUE(words) << to_string(words.error());
  EXPECT_EQ(words->model, "gpt2");
  EXPECT_EQ(words->pre, "gpt-2");
  EXPECT_EQ(words->tokens, tiny_words().tokens);
  EXPECT_EQ(words->merges, tiny_words().merges);
  EXPECT_EQ(words->types, tiny_words().types);
  EXPECT_EQ(words->bos, tiny_words().message_start);
  EXPECT_EQ(words->eos, tiny_words().message_end);
  EXPECT_EQ(words->unknown, std::nullopt);
  EXPECT_EQ(words->add_bos, false);
  EXPECT_EQ(words->add_space_prefix, std::nullopt);
}

TEST_F(gguf, vocabulary_by_the_reference_writer) {
  const auto words
      = read_gguf_vocabulary(KVLOOM_SOURCE_DIR "/tests/data/files/llama.gguf");
  ASSERT_TRUE(words) << to_string(words.error());
  EXPECT_EQ(words->model, "llama");
  EXPECT_EQ(words->tokens.size(), 20U);
  EXPECT_EQ(words->tokens[4], "<0x01>");
  EXPECT_EQ(words->scores.size(), 20U);
  EXPECT_EQ(words->types[0], 2);
  EXPECT_EQ(words->types[4], 6);
  EXPECT_EQ(words->unknown, 0);
  EXPECT_EQ(words->add_bos, true);
  EXPECT_EQ(words->add_space_prefix, false);
}

TEST_F(gguf, vocabularies_that_contradict_themselves) {
  const auto fault = [&](const gguf_builder& file) {
    const auto made = read_gguf_vocabulary(path_of(file.bytes()));
    EXPECT_FALSE(made);
    return made ? std::string{} : made.error().message;
  };
  const auto words = [] {
    gguf_builder file;
    file.text("tokenizer.ggml.model", "gpt2");
    file.texts("tokenizer.ggml.tokens", {"a", "b"});
    return file;
  };
  EXPECT_THAT(fault(gguf_builder{}), HasSubstr("tokenizer.ggml.tokens"));
  auto scores = words();
  scores.reals("tokenizer.ggml.scores", {1});
  EXPECT_THAT(fault(scores), HasSubstr("1 entries for 2 tokens"));
  auto types = words();
  types.counts("tokenizer.ggml.token_type", {1, 1, 1});
  EXPECT_THAT(fault(types), HasSubstr("3 entries for 2 tokens"));
  auto bos = words();
  bos.count("tokenizer.ggml.bos_token_id", 2);
  EXPECT_THAT(fault(bos), HasSubstr("bos_token_id"));
}

} // namespace
} // namespace kvloom::engine
