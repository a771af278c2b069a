// Tiny random models of every family, written as a Hugging Face folder and as
// a GGUF file.
#pragma once

#include "core/tensor/dtype.hpp"
#include "engine/model/model_config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kvloom::test_support {

/// What a tiny model is like. The head counts hide nothing: heads / kv_heads
/// differs from kv_heads, head_dim from hidden / heads.
struct tiny_options {
  engine::model_family family = engine::model_family::llama;
  dtype matrices = dtype::f32; ///< block types: random blocks, GGUF only
  bool tied = false;
  bool biases = false; ///< llama: on q, k, v, o and the MLP
  std::int64_t layers = 2;
  std::int64_t hidden = 64;
  std::int64_t q_heads = 6;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 32;
  std::int64_t intermediate = 96;
  std::int64_t context = 512;
  std::int64_t window = 0; ///< mistral
  std::uint64_t seed = 1;
};

/// Options whose rows are whole blocks of 256.
tiny_options wide_options(engine::model_family family, dtype matrices);

struct tiny_tensor {
  std::string name; ///< as in a Hugging Face folder; others stay as they are
  dtype type = dtype::f32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// A model in memory; q and k in the `half` layout, as Hugging Face has them.
struct tiny_model {
  tiny_options made_of;
  std::string config; ///< text of config.json
  std::vector<tiny_tensor> tensors;

  const tiny_tensor& tensor(const std::string& name) const;
};

/// The same options give the same model on every machine. The vocabulary is
/// byte-level: a token for each byte, a few merges and three control tokens.
tiny_model make_tiny_model(const tiny_options& options);

/// config.json, generation_config.json, tokenizer.json and the weights: one
/// model.safetensors, or `shards` files and an index.
void write_hf_folder(const tiny_model& model,
                     const std::filesystem::path& folder, int shards = 1);

/// One GGUF file with the vocabulary inside; q and k in the order that its
/// converters write for the family.
void write_gguf(const tiny_model& model, const std::filesystem::path& file);

/// The bytes that write_gguf() writes.
std::string gguf_bytes(const tiny_model& model);

/// The bytes of one safetensors file with these tensors.
std::string safetensors_bytes(const std::vector<tiny_tensor>& tensors);

/// Length, header text and data, whatever they hold.
std::string safetensors_bytes(const std::string& header,
                              const std::string& data);

} // namespace kvloom::test_support
