#include "tests/support/tiny_model.hpp"

#include "core/base/random.hpp"
#include "core/tensor/float_bits.hpp"
#include "tests/support/tiny_vocabulary.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

namespace kvloom::test_support {

namespace {

using engine::model_family;
using nlohmann::json;

/// f32 to f16 towards zero, for values that are normal in f16; smaller ones
/// become zero.
std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t rest = bits & 0x7fffffffU;
  constexpr std::uint32_t least = 113U << 23U; // 2^-14
  if (rest < least) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | ((rest - (112U << 23U)) >> 13U));
}

/// Byte positions of the f16 scales in a block.
std::initializer_list<std::size_t> scales_of(dtype type) {
  static constexpr std::initializer_list<std::size_t> first = {0};
  static constexpr std::initializer_list<std::size_t> first_two = {0, 2};
  static constexpr std::initializer_list<std::size_t> last = {208};
  if (type == dtype::q4_1 || type == dtype::q4_k) return first_two;
  return type == dtype::q6_k ? last : first;
}

/// Blocks of random bytes with small finite scales.
std::string random_blocks(dtype type, std::int64_t n, random_stream& random) {
  const auto block = static_cast<std::size_t>(block_bytes(type));
  std::string bytes(static_cast<std::size_t>(row_bytes(type, n)), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  constexpr std::uint64_t about_one_thousandth = 0x1400;
  for (std::size_t at = 0; at < bytes.size(); at += block)
    for (const std::size_t scale : scales_of(type)) {
      const auto bits = static_cast<std::uint16_t>(about_one_thousandth
                                                   + random.below(0x400));
      std::memcpy(bytes.data() + at + scale, &bits, sizeof bits);
    }
  return bytes;
}

std::string random_plain(dtype type, std::int64_t n, double scale,
                         double offset, random_stream& random) {
  std::string bytes;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value
        = static_cast<float>(offset + scale * (2 * random.uniform() - 1));
    if (type == dtype::f32) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      continue;
    }
    const std::uint16_t bits
        = type == dtype::f16 ? to_f16(value) : f32_to_bf16(value);
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return bytes;
}

/// Makes tensors; each draws from a stream of its own name.
class tensor_maker {
public:
  explicit tensor_maker(tiny_model& model) : model_(model) {}

  void matrix(const std::string& name, std::int64_t rows,
              std::int64_t columns) {
    const dtype type = model_.made_of.matrices;
    random_stream random(model_.made_of.seed, name);
    const std::int64_t n = rows * columns;
    std::string bytes
        = is_quantised(type)
              ? random_blocks(type, n, random)
              : random_plain(type, n, 1.7 / std::sqrt(double(columns)), 0,
                             random);
    model_.tensors.push_back({name, type, {rows, columns}, std::move(bytes)});
  }

  void vector(const std::string& name, std::int64_t n, double offset) {
    random_stream random(model_.made_of.seed, name);
    model_.tensors.push_back(
        {name,
         dtype::f32,
         {n},
         random_plain(dtype::f32, n, 0.3, offset, random)});
  }

  void linear(const std::string& name, std::int64_t rows, std::int64_t columns,
              bool bias) {
    matrix(name + ".weight", rows, columns);
    if (bias) vector(name + ".bias", rows, 0);
  }

private:
  tiny_model& model_;
};

void add_layer(tensor_maker& make, const tiny_options& o, std::int64_t layer) {
  const std::string at = "model.layers." + std::to_string(layer) + ".";
  const bool qkv_bias = o.biases || o.family == model_family::qwen2;
  const std::int64_t q_rows = o.q_heads * o.head_dim;
  const std::int64_t kv_rows = o.kv_heads * o.head_dim;
  make.vector(at + "input_layernorm.weight", o.hidden, 1);
  make.linear(at + "self_attn.q_proj", q_rows, o.hidden, qkv_bias);
  make.linear(at + "self_attn.k_proj", kv_rows, o.hidden, qkv_bias);
  make.linear(at + "self_attn.v_proj", kv_rows, o.hidden, qkv_bias);
  make.linear(at + "self_attn.o_proj", o.hidden, q_rows, o.biases);
  if (o.family == model_family::qwen3) {
    make.vector(at + "self_attn.q_norm.weight", o.head_dim, 1);
    make.vector(at + "self_attn.k_norm.weight", o.head_dim, 1);
  }
  make.vector(at + "post_attention_layernorm.weight", o.hidden, 1);
  make.linear(at + "mlp.gate_proj", o.intermediate, o.hidden, o.biases);
  make.linear(at + "mlp.up_proj", o.intermediate, o.hidden, o.biases);
  make.linear(at + "mlp.down_proj", o.hidden, o.intermediate, o.biases);
}

const char* class_of(model_family family) {
  switch (family) {
  case model_family::llama:
    return "LlamaForCausalLM";
  case model_family::mistral:
    return "MistralForCausalLM";
  case model_family::qwen2:
    return "Qwen2ForCausalLM";
  case model_family::qwen3:
    return "Qwen3ForCausalLM";
  }
  throw std::invalid_argument("no such family");
}

std::string config_of(const tiny_options& o, std::int64_t vocabulary) {
  json config = {
      {"architectures", {class_of(o.family)}},
      {"model_type", to_string(o.family)},
      {"hidden_size", o.hidden},
      {"intermediate_size", o.intermediate},
      {"num_hidden_layers", o.layers},
      {"num_attention_heads", o.q_heads},
      {"num_key_value_heads", o.kv_heads},
      {"head_dim", o.head_dim},
      {"vocab_size", vocabulary},
      {"max_position_embeddings", o.context},
      {"rms_norm_eps", 1e-5},
      {"rope_theta", 10000.0},
      {"tie_word_embeddings", o.tied},
      {"hidden_act", "silu"},
      {"bos_token_id", tiny_words().message_start},
      {"eos_token_id", tiny_words().message_end},
  };
  if (o.family == model_family::llama) {
    config["attention_bias"] = o.biases;
    config["mlp_bias"] = o.biases;
  }
  if (o.family == model_family::mistral)
    config["sliding_window"] = o.window == 0 ? json(nullptr) : json(o.window);
  return config.dump(1);
}

} // namespace

tiny_options wide_options(engine::model_family family, dtype matrices) {
  tiny_options options;
  options.family = family;
  options.matrices = matrices;
  options.layers = 1;
  options.hidden = 256;
  options.q_heads = 4;
  options.kv_heads = 1;
  options.head_dim = 128;
  options.intermediate = 256;
  return options;
}

const tiny_tensor& tiny_model::tensor(const std::string& name) const {
  for (const tiny_tensor& one : tensors)
    if (one.name == name) return one;
  throw std::invalid_argument("no tensor " + name);
}

tiny_model make_tiny_model(const tiny_options& options) {
  const auto vocabulary = static_cast<std::int64_t>(tiny_words().tokens.size());
  tiny_model model;
  model.made_of = options;
  model.config = config_of(options, vocabulary);
  tensor_maker make(model);
  make.matrix("model.embed_tokens.weight", vocabulary, options.hidden);
  for (std::int64_t layer = 0; layer < options.layers; ++layer)
    add_layer(make, options, layer);
  make.vector("model.norm.weight", options.hidden, 1);
  if (!options.tied) make.matrix("lm_head.weight", vocabulary, options.hidden);
  return model;
}

} // namespace kvloom::test_support
