// Whole models, by every way of writing them.
#include "engine/files/checkpoint.hpp"
#include "engine/files/weight_table.hpp"
#include "tests/support/gguf_builder.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"
#include "tests/support/tiny_vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::engine {
namespace {

using namespace test_support;
using testing::HasSubstr;
using opened = std::shared_ptr<const checkpoint>;

constexpr model_family families[] = {model_family::llama, model_family::mistral,
                                     model_family::qwen2, model_family::qwen3};

opened must_open(const std::filesystem::path& path) {
  auto made = open_checkpoint(path);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *made;
}

std::string bytes_of_view(const weight_view& view) {
  return {reinterpret_cast<const char*>(view.bytes), view.n_bytes};
}

/// The view holds the tensor of this name, or is absent as the tensor is.
void expect_tensor(const weight_view& view, const tiny_model& model,
                   const std::string& name) {
  SCOPED_TRACE(name);
  for (const tiny_tensor& tensor : model.tensors)
    if (tensor.name == name) {
      ASSERT_TRUE(view.present());
      EXPECT_EQ(view.type, tensor.type);
      EXPECT_EQ(view.shape, tensor.shape);
      EXPECT_TRUE(bytes_of_view(view) == tensor.bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.bytes) % 4, 0U);
      return;
    }
  EXPECT_FALSE(view.present());
}

/// Every weight is the source's, bit for bit, and the sizes are.
void expect_same(const checkpoint& found, const tiny_model& model) {
  const model_config& config = found.config;
  const tiny_options& o = model.made_of;
  EXPECT_EQ(config.n_layers, o.layers);
  EXPECT_EQ(config.hidden_size, o.hidden);
  EXPECT_EQ(config.n_q_heads, o.q_heads);
  EXPECT_EQ(config.n_kv_heads, o.kv_heads);
  EXPECT_EQ(config.head_dim, o.head_dim);
  EXPECT_EQ(config.intermediate_size, o.intermediate);
  EXPECT_EQ(config.context_length, o.context);
  EXPECT_EQ(config.vocab_size,
            static_cast<std::int64_t>(tiny_words().tokens.size()));
  EXPECT_EQ(config.tied_head, o.tied);
  EXPECT_EQ(config.qk_norm, o.family == model_family::qwen3);
  EXPECT_NEAR(config.rms_norm_eps, 1e-5, 1e-11);
  EXPECT_EQ(config.rope.theta, 10000);
  EXPECT_EQ(config.bos, tiny_words().message_start);
  EXPECT_EQ(config.eos, std::vector<token_id>{tiny_words().message_end});
  EXPECT_EQ(config.window, std::vector<std::int64_t>(
                               static_cast<std::size_t>(o.layers), o.window));
  expect_tensor(found.embedding, model, "model.embed_tokens.weight");
  expect_tensor(found.final_norm, model, "model.norm.weight");
  if (o.tied)
    EXPECT_EQ(found.head.bytes, found.embedding.bytes);
  else
    expect_tensor(found.head, model, "lm_head.weight");
  ASSERT_EQ(found.layers.size(), static_cast<std::size_t>(o.layers));
  for (std::size_t i = 0; i < found.layers.size(); ++i) {
    const layer_weights& layer = found.layers[i];
    const std::string at = "model.layers." + std::to_string(i) + ".";
    const std::pair<const weight_view*, const char*> all[] = {
        {&layer.attention_norm, "input_layernorm.weight"},
        {&layer.q, "self_attn.q_proj.weight"},
        {&layer.k, "self_attn.k_proj.weight"},
        {&layer.v, "self_attn.v_proj.weight"},
        {&layer.q_bias, "self_attn.q_proj.bias"},
        {&layer.k_bias, "self_attn.k_proj.bias"},
        {&layer.v_bias, "self_attn.v_proj.bias"},
        {&layer.q_norm, "self_attn.q_norm.weight"},
        {&layer.k_norm, "self_attn.k_norm.weight"},
        {&layer.o, "self_attn.o_proj.weight"},
        {&layer.o_bias, "self_attn.o_proj.bias"},
        {&layer.mlp_norm, "post_attention_layernorm.weight"},
        {&layer.gate, "mlp.gate_proj.weight"},
        {&layer.up, "mlp.up_proj.weight"},
        {&layer.down, "mlp.down_proj.weight"},
        {&layer.gate_bias, "mlp.gate_proj.bias"},
        {&layer.up_bias, "mlp.up_proj.bias"},
        {&layer.down_bias, "mlp.down_proj.bias"},
    };
    for (const auto& [view, name] : all) expect_tensor(*view, model, at + name);
  }
}

TEST(checkpoint, every_family_by_every_way_of_writing) {
  for (const model_family family : families)
    for (const bool tied : {false, true}) {
      SCOPED_TRACE(std::string(to_string(family)) + (tied ? " tied" : ""));
      tiny_options options;
      options.family = family;
      options.tied = tied;
      if (family == model_family::mistral) options.window = 16;
      const tiny_model model = make_tiny_model(options);
      const temp_folder folder;
      write_hf_folder(model, folder / "single");
      write_hf_folder(model, folder / "shards", 3);
      write_gguf(model, folder / "model.gguf");
      const opened single = must_open(folder / "single");
      const opened shards = must_open(folder / "shards");
      const opened gguf = must_open(folder / "model.gguf");
      expect_same(*single, model);
      expect_same(*shards, model);
      expect_same(*gguf, model);
      EXPECT_EQ(single->config.family, family);
      EXPECT_EQ(gguf->config.family, family);
      EXPECT_EQ(digest(*single), digest(*shards));
      EXPECT_THAT(single->notes, testing::IsEmpty());
    }
}

TEST(checkpoint, llama_with_all_biases) {
  tiny_options options;
  options.biases = true;
  const tiny_model model = make_tiny_model(options);
  const temp_folder folder;
  write_hf_folder(model, folder / "hf");
  write_gguf(model, folder / "model.gguf");
  expect_same(*must_open(folder / "hf"), model);
  expect_same(*must_open(folder / "model.gguf"), model);
}

// One function restores the order of q and k, for every weight type.
TEST(checkpoint, query_and_key_rows_are_restored_for_every_type) {
  for (const dtype type : {dtype::f32, dtype::f16, dtype::bf16, dtype::q8_0,
                           dtype::q4_0, dtype::q4_1, dtype::q4_k, dtype::q6_k})
    for (const model_family family : families) {
      SCOPED_TRACE(std::string(to_string(type)) + " " + to_string(family));
      const tiny_model model = make_tiny_model(wide_options(family, type));
      const temp_folder folder;
      write_gguf(model, folder / "model.gguf");
      expect_same(*must_open(folder / "model.gguf"), model);
    }
}

TEST(checkpoint, half_layout_lane_by_lane) {
  // Two heads of six rows; each value says head and lane of the pair layout.
  const std::vector<float> rows = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  2.5F,
                                   10.0F, 10.5F, 11.0F, 11.5F, 12.0F, 12.5F};
  weight_view view;
  view.shape = {12, 1};
  view.bytes = reinterpret_cast<const std::byte*>(rows.data());
  view.n_bytes = rows.size() * sizeof(float);
  weight_storage storage;
  const weight_view turned = to_half_layout(view, 2, storage);
  std::vector<float> found(12);
  std::memcpy(found.data(), turned.bytes, turned.n_bytes);
  EXPECT_EQ(found,
            (std::vector<float>{0.0F, 1.0F, 2.0F, 0.5F, 1.5F, 2.5F, 10.0F,
                                11.0F, 12.0F, 10.5F, 11.5F, 12.5F}));
}

// Files by other people's writers: transformers (shards) and the gguf package.
TEST(checkpoint, files_of_the_reference_writers_hold_the_same_model) {
  const std::filesystem::path data = KVLOOM_SOURCE_DIR "/tests/data/files";
  const opened hf = must_open(data / "llama_shards");
  const opened gguf = must_open(data / "llama.gguf");
  EXPECT_THAT(hf->notes, testing::IsEmpty());
  EXPECT_THAT(gguf->notes, testing::IsEmpty());
  for (const opened& model : {hf, gguf}) {
    EXPECT_EQ(model->config.n_layers, 2);
    EXPECT_EQ(model->config.head_dim, 8);
    EXPECT_EQ(model->config.rope.theta, 20000);
    EXPECT_EQ(model->config.bos, 1);
    EXPECT_EQ(model->config.eos, std::vector<token_id>{2});
    EXPECT_FALSE(model->config.tied_head);
  }
  const auto same = [](const weight_view& a, const weight_view& b) {
    EXPECT_EQ(a.shape, b.shape) << a.name;
    EXPECT_TRUE(bytes_of_view(a) == bytes_of_view(b)) << a.name;
  };
  same(hf->embedding, gguf->embedding);
  same(hf->final_norm, gguf->final_norm);
  same(hf->head, gguf->head);
  for (std::size_t i = 0; i < 2; ++i) {
    const layer_weights &a = hf->layers[i], &b = gguf->layers[i];
    same(a.attention_norm, b.attention_norm);
    same(a.q, b.q);
    same(a.k, b.k);
    same(a.v, b.v);
    same(a.o, b.o);
    same(a.mlp_norm, b.mlp_norm);
    same(a.gate, b.gate);
    same(a.up, b.up);
    same(a.down, b.down);
  }
}

TEST(checkpoint, digest_follows_weights_and_arithmetic) {
  tiny_options options;
  options.layers = 1;
  const tiny_model model = make_tiny_model(options);
  const temp_folder folder;
  int number = 0;
  const auto digest_of = [&](const std::string& config,
                             const std::function<void(tiny_model&)>& edit) {
    tiny_model changed = model;
    changed.config = config;
    if (edit) edit(changed);
    const auto at = folder / std::to_string(number++);
    write_hf_folder(changed, at);
    return digest(*must_open(at));
  };
  const std::string first = digest_of(model.config, {});
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(digest_of(model.config, {}), first);
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    EXPECT_NE(digest_of(model.config,
                        [i](tiny_model& m) { m.tensors[i].bytes.back() ^= 1; }),
              first)
        << model.tensors[i].name;
  const auto changed = [&](const char* key, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(model.config);
    config[key] = value;
    return digest_of(config.dump(), {});
  };
  EXPECT_NE(changed("rope_theta", 10001.0), first);
  EXPECT_NE(changed("rms_norm_eps", 2e-5), first);
  EXPECT_NE(changed("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}),
            first);
  // What ends an answer and how long a text may be change no value.
  EXPECT_EQ(changed("max_position_embeddings", 1024), first);
}

struct hf_case : testing::Test {
  temp_folder folder;
  tiny_model model = make_tiny_model({.tied = true, .layers = 2});

  result<opened> open() const { return open_checkpoint(folder.path()); }

  error refused() const {
    auto made = open();
    EXPECT_FALSE(made);
    return made ? error{} : made.error();
  }

  tiny_tensor& tensor(const std::string& name) {
    for (tiny_tensor& one : model.tensors)
      if (one.name == name) return one;
    throw std::invalid_argument(name);
  }

  void remove(const std::string& name) {
    std::erase_if(model.tensors,
                  [&](const tiny_tensor& one) { return one.name == name; });
  }

  void set(const char* key, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(model.config);
    config[key] = value;
    model.config = config.dump();
  }
};

TEST_F(hf_case, a_tied_head_may_be_stored_if_it_is_equal) {
  tiny_tensor head = tensor("model.embed_tokens.weight");
  head.name = "lm_head.weight";
  model.tensors.push_back(head);
  write_hf_folder(model, folder.path());
  const auto made = open();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE((*made)->config.tied_head);
  EXPECT_EQ((*made)->head.bytes, (*made)->embedding.bytes);

  model.tensors.back().bytes.front() ^= 1;
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr("differs"));
}

TEST_F(hf_case, a_missing_head_of_an_untied_model_is_named) {
  set("tie_word_embeddings", false);
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr("lm_head.weight"));
}

TEST_F(hf_case, missing_and_misshapen_tensors_are_named) {
  const std::string name = "model.layers.1.mlp.up_proj.weight";
  tensor(name).shape = {tensor(name).shape[1], tensor(name).shape[0]};
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr(name));
  EXPECT_THAT(refused().message, HasSubstr("[64, 96]"));
  EXPECT_THAT(refused().message, HasSubstr("[96, 64]"));
  remove(name);
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr(name));
}

TEST_F(hf_case, a_tensor_without_use_is_named) {
  model.tensors.push_back(
      {"model.layers.0.mlp.experts.3.w1.weight", dtype::f32, {1}, "abcd"});
  write_hf_folder(model, folder.path());
  const error what = refused();
  EXPECT_EQ(what.code, errc::bad_input);
  EXPECT_THAT(what.message, HasSubstr("experts.3"));
}

TEST_F(hf_case, a_bias_in_some_layers_only_is_refused) {
  model.tensors.push_back({"model.layers.1.self_attn.q_proj.bias",
                           dtype::f32,
                           {192},
                           std::string(192 * 4, '\0')});
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr("q_proj.bias"));
}

// The weights decide where the configuration is silent.
TEST_F(hf_case, an_undeclared_bias_in_every_layer_is_used) {
  for (const char* layer : {"0", "1"})
    model.tensors.push_back(
        {std::string("model.layers.") + layer + ".self_attn.q_proj.bias",
         dtype::f32,
         {192},
         std::string(192 * 4, '\0')});
  write_hf_folder(model, folder.path());
  const auto made = open();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE((*made)->layers[1].q_bias.present());
}

TEST_F(hf_case, qwen2_without_its_biases_is_refused) {
  set("model_type", "qwen2");
  set("architectures", {"Qwen2ForCausalLM"});
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr("q_proj.bias"));
}

// More rows than the vocabulary are padding; fewer are an error.
TEST_F(hf_case, vocabulary_against_rows) {
  const auto rows = static_cast<std::int64_t>(tiny_words().tokens.size());
  set("vocab_size", rows - 1);
  write_hf_folder(model, folder.path());
  const auto made = open();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ((*made)->config.vocab_size, rows);
  EXPECT_THAT((*made)->notes, testing::Contains(HasSubstr("padding")));
  set("vocab_size", rows + 1);
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr(std::to_string(rows)));
  EXPECT_THAT(refused().message, HasSubstr(std::to_string(rows + 1)));
}

TEST_F(hf_case, ids_outside_the_vocabulary_are_refused) {
  std::filesystem::remove(folder / "generation_config.json");
  set("bos_token_id", 100'000);
  write_hf_folder(model, folder.path());
  EXPECT_THAT(refused().message, HasSubstr("100000"));
}

TEST_F(hf_case, only_the_files_of_the_index_are_opened) {
  write_hf_folder(model, folder.path(), 2);
  write_file(folder / "model.safetensors", "not to be opened");
  const auto made = open();
  ASSERT_TRUE(made) << to_string(made.error());
  expect_same(**made, model);
  EXPECT_THAT((*made)->notes,
              testing::Contains(HasSubstr("\"model.safetensors\"")));
}

TEST_F(hf_case, an_index_that_does_not_fit_is_refused) {
  write_hf_folder(model, folder.path(), 2);
  const auto path = folder / "model.safetensors.index.json";
  const auto index = nlohmann::json::parse(read_file(path));
  const auto with = [&](const char* tensor, const nlohmann::json& file) {
    auto changed = index;
    changed["weight_map"][tensor] = file;
    write_file(path, changed.dump());
    return refused();
  };
  const char* name = "model.embed_tokens.weight";
  EXPECT_THAT(with(name, "model-00002-of-00002.safetensors").message,
              HasSubstr(name));
  EXPECT_THAT(with("absent.weight", "model-00002-of-00002.safetensors").message,
              HasSubstr("absent.weight"));
  EXPECT_THAT(with(name, "../elsewhere.safetensors").message,
              HasSubstr("not in the folder"));
  EXPECT_THAT(with(name, 3).message, HasSubstr(name));
  const error missing = with(name, "absent.safetensors");
  EXPECT_THAT(missing.place, HasSubstr("absent.safetensors"));
  write_file(path, R"({"weight_map": {}})");
  EXPECT_THAT(refused().message, HasSubstr("weight_map"));
}

TEST_F(hf_case, folders_that_are_no_model) {
  EXPECT_THAT(refused().message, HasSubstr("config.json"));
  write_file(folder / "config.json", model.config);
  write_file(folder / "pytorch_model.bin", "PK");
  EXPECT_THAT(refused().message, HasSubstr("pytorch_model.bin"));
  const auto absent = open_checkpoint(folder / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, errc::environment);
  EXPECT_THAT(absent.error().place, HasSubstr("absent"));
}

TEST_F(hf_case, buffers_of_old_writers_are_dropped) {
  for (const char* layer : {"0", "1"})
    model.tensors.push_back({std::string("model.layers.") + layer
                                 + ".self_attn.rotary_emb.inv_freq",
                             dtype::f32,
                             {16},
                             std::string(64, '\0')});
  write_hf_folder(model, folder.path());
  const auto made = open();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_THAT((*made)->notes, testing::Contains(HasSubstr("inv_freq")));
}

TEST_F(hf_case, a_base_model_without_prefix_opens) {
  for (tiny_tensor& one : model.tensors)
    one.name = one.name.substr(std::string("model.").size());
  write_hf_folder(model, folder.path());
  EXPECT_TRUE(open());
}

TEST(checkpoint, smollm2) {
  const char* path = std::getenv("KVLOOM_TEST_MODEL");
  if (path == nullptr)
    GTEST_SKIP() << "KVLOOM_TEST_MODEL does not name a GGUF file of "
                    "SmolLM2-135M-Instruct";
  const opened model = must_open(path);
  EXPECT_EQ(model->config.n_layers, 30);
  EXPECT_EQ(model->config.n_q_heads, 9);
  EXPECT_EQ(model->config.n_kv_heads, 3);
  EXPECT_EQ(model->config.vocab_size, 49152);
  EXPECT_EQ(model->config.kv_bytes_per_token(2), 23'040);
  EXPECT_TRUE(model->config.tied_head);
  EXPECT_EQ(digest(*model), digest(*must_open(path)));
}

} // namespace
} // namespace kvloom::engine
