// An opened model: its configuration and its named weights, mapped from disk.
#pragma once

#include "core/base/result.hpp"
#include "core/tensor/dtype.hpp"
#include "engine/model/model_config.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::engine {

/// A tensor as it lies in the file (or in memory that the checkpoint owns).
/// Matrices are [out, in] whatever the file format, rows contiguous; a
/// quantised row is row_bytes(type, in) bytes. Valid as long as the
/// checkpoint lives.
struct weight_view {
  std::string name; ///< name in the file, for messages
  dtype type = dtype::f32;
  std::vector<std::int64_t> shape;  ///< [out, in] or [n]; empty: absent
  const std::byte* bytes = nullptr; ///< aligned to 4 bytes or better
  std::size_t n_bytes = 0;

  bool present() const { return bytes != nullptr; }
  std::int64_t rows() const { return shape.size() > 1 ? shape[0] : 1; }
  std::int64_t columns() const { return shape.empty() ? 0 : shape.back(); }
};

/// Weights of one layer. q and k rows are in the `half` rotary layout
/// (pairs j, j + head_dim/2), whatever the file's layout was.
struct layer_weights {
  weight_view attention_norm;         // [hidden]
  weight_view q, k, v;                // [heads * head_dim, hidden]
  weight_view q_bias, k_bias, v_bias; // [heads * head_dim], may be absent
  weight_view q_norm, k_norm;         // [head_dim], may be absent
  weight_view o;                      // [hidden, q_heads * head_dim]
  weight_view o_bias;                 // [hidden], may be absent
  weight_view mlp_norm;               // [hidden]
  weight_view gate, up;               // [intermediate, hidden]
  weight_view down;                   // [hidden, intermediate]
  weight_view gate_bias, up_bias, down_bias; // may be absent
};

/// A checked checkpoint: every tensor of the files is one of these.
/// Immutable after opening; may be read from any thread.
struct checkpoint {
  std::filesystem::path path;
  model_config config;
  weight_view embedding;  // [vocab, hidden]
  weight_view final_norm; // [hidden]
  weight_view head;       // [vocab, hidden]; the embedding where tied
  std::vector<layer_weights> layers;
  /// Non-fatal findings for the log (stray files and the like).
  std::vector<std::string> notes;
  /// Keeps mappings and unpermuted copies alive.
  std::shared_ptr<const void> storage;
};

/// Opens a GGUF file, or a Hugging Face folder (config.json and safetensors,
/// through model.safetensors.index.json if there is one). Maps the files,
/// checks every range before use, refuses what it cannot honour.
/// Errors: environment with the path where a file is missing or malformed;
/// bad_input where the family or a config key is not supported.
result<std::shared_ptr<const checkpoint>>
open_checkpoint(const std::filesystem::path& path);

/// SHA-256 over the weights and the arithmetic part of the configuration.
/// Reads every byte once (about 1 GB/s or better).
std::string digest(const checkpoint& model);

} // namespace kvloom::engine
