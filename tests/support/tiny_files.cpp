#include "tests/support/gguf_builder.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"
#include "tests/support/tiny_vocabulary.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kvloom::test_support {

namespace {

using engine::model_family;
using nlohmann::json;

const char* safetensors_name(dtype type) {
  switch (type) {
  case dtype::f32:
    return "F32";
  case dtype::f16:
    return "F16";
  case dtype::bf16:
    return "BF16";
  default:
    throw std::invalid_argument("safetensors have no block types");
  }
}

/// "model.layers.3.self_attn.q_proj.weight" -> "blk.3.attn_q.weight".
std::string gguf_name(const std::string& name) {
  if (name == "model.embed_tokens.weight") return "token_embd.weight";
  if (name == "model.norm.weight") return "output_norm.weight";
  if (name == "lm_head.weight") return "output.weight";
  if (!name.starts_with("model.")) return name;
  static constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"input_layernorm", "attn_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.q_norm", "attn_q_norm"},
      {"self_attn.k_norm", "attn_k_norm"},
      {"self_attn.o_proj", "attn_output"},
      {"post_attention_layernorm", "ffn_norm"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
  };
  constexpr std::string_view start = "model.layers.";
  const auto layer_end = name.find('.', start.size());
  const std::string layer = name.substr(start.size(), layer_end - start.size());
  const std::string rest = name.substr(layer_end + 1);
  for (const auto& [from, to] : parts)
    if (rest.starts_with(from))
      return "blk." + layer + "." + std::string(to) + rest.substr(from.size());
  throw std::invalid_argument("no GGUF name for " + name);
}

/// Rows of each head from halves (j, j + d/2) to neighbours (2j, 2j + 1).
std::string interleaved(const tiny_tensor& tensor, std::int64_t heads) {
  const std::size_t rows = static_cast<std::size_t>(tensor.shape[0]);
  const std::size_t row = tensor.bytes.size() / rows;
  const std::size_t dim = rows / static_cast<std::size_t>(heads);
  std::string turned;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t head = i / dim, lane = i % dim;
    const std::size_t from = head * dim + lane / 2 + lane % 2 * (dim / 2);
    turned += tensor.bytes.substr(from * row, row);
  }
  return turned;
}

std::string data_of(const tiny_tensor& tensor, const tiny_options& made_of) {
  const bool turns = made_of.family == model_family::llama
                     || made_of.family == model_family::mistral;
  if (turns && tensor.name.find(".q_proj.") != std::string::npos)
    return interleaved(tensor, made_of.q_heads);
  if (turns && tensor.name.find(".k_proj.") != std::string::npos)
    return interleaved(tensor, made_of.kv_heads);
  return tensor.bytes;
}

void add_vocabulary(gguf_builder& file) {
  const tiny_vocabulary& words = tiny_words();
  const auto id
      = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  file.text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "gpt-2")
      .texts("tokenizer.ggml.tokens", words.tokens)
      .counts("tokenizer.ggml.token_type", words.types)
      .texts("tokenizer.ggml.merges", words.merges)
      .count("tokenizer.ggml.bos_token_id", id(words.message_start))
      .count("tokenizer.ggml.eos_token_id", id(words.message_end))
      .truth("tokenizer.ggml.add_bos_token", false);
}

void write_shards(const tiny_model& model, const std::filesystem::path& folder,
                  int shards) {
  json map = json::object();
  const std::size_t n = model.tensors.size();
  for (int shard = 0; shard < shards; ++shard) {
    const auto number = [](int value) {
      std::string digits = std::to_string(value);
      return std::string(5 - digits.size(), '0') + digits;
    };
    const std::string name = "model-" + number(shard + 1) + "-of-"
                             + number(shards) + ".safetensors";
    const auto border = [&](int at) {
      return static_cast<std::ptrdiff_t>(n * static_cast<std::size_t>(at)
                                         / static_cast<std::size_t>(shards));
    };
    const std::vector<tiny_tensor> part(model.tensors.begin() + border(shard),
                                        model.tensors.begin()
                                            + border(shard + 1));
    for (const tiny_tensor& tensor : part) map[tensor.name] = name;
    write_file(folder / name, safetensors_bytes(part));
  }
  write_file(
      folder / "model.safetensors.index.json",
      json{{"metadata", {{"total_size", 0}}}, {"weight_map", map}}.dump(1));
}

} // namespace

std::string safetensors_bytes(const std::string& header,
                              const std::string& data) {
  return bytes_of(std::uint64_t{header.size()}) + header + data;
}

std::string safetensors_bytes(const std::vector<tiny_tensor>& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const tiny_tensor& tensor : tensors) {
    header[tensor.name]
        = {{"dtype", safetensors_name(tensor.type)},
           {"shape", tensor.shape},
           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return safetensors_bytes(text, data);
}

void write_hf_folder(const tiny_model& model,
                     const std::filesystem::path& folder, int shards) {
  std::filesystem::create_directories(folder);
  write_file(folder / "config.json", model.config);
  write_file(folder / "generation_config.json",
             json{{"eos_token_id", {tiny_words().message_end}}}.dump(1));
  write_file(folder / "tokenizer.json", tiny_tokenizer_json());
  if (shards == 1)
    write_file(folder / "model.safetensors", safetensors_bytes(model.tensors));
  else
    write_shards(model, folder, shards);
}

std::string gguf_bytes(const tiny_model& model) {
  const tiny_options& o = model.made_of;
  const std::string arch
      = o.family == model_family::mistral ? "llama" : to_string(o.family);
  const auto size
      = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  gguf_builder file;
  file.text("general.architecture", arch)
      .text("general.name", "tiny")
      .count(arch + ".block_count", size(o.layers))
      .count(arch + ".context_length", size(o.context))
      .count(arch + ".embedding_length", size(o.hidden))
      .count(arch + ".feed_forward_length", size(o.intermediate))
      .count(arch + ".attention.head_count", size(o.q_heads))
      .count(arch + ".attention.head_count_kv", size(o.kv_heads))
      .count(arch + ".attention.key_length", size(o.head_dim))
      .count(arch + ".attention.value_length", size(o.head_dim))
      .count(arch + ".rope.dimension_count", size(o.head_dim))
      .real(arch + ".attention.layer_norm_rms_epsilon", 1e-5F)
      .real(arch + ".rope.freq_base", 10000.0F)
      .count(arch + ".vocab_size",
             size(static_cast<std::int64_t>(tiny_words().tokens.size())));
  if (o.window != 0)
    file.count(arch + ".attention.sliding_window", size(o.window));
  add_vocabulary(file);
  for (const tiny_tensor& tensor : model.tensors)
    file.tensor(gguf_name(tensor.name), gguf_number(tensor.type),
                {tensor.shape.begin(), tensor.shape.end()}, data_of(tensor, o));
  return file.bytes();
}

void write_gguf(const tiny_model& model, const std::filesystem::path& file) {
  write_file(file, gguf_bytes(model));
}

} // namespace kvloom::test_support
