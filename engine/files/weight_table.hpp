// The tensors of the files by name, and their assembly into a checkpoint.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/files/file_map.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::engine {

/// What a checkpoint keeps alive: mappings, and copies of what cannot be
/// used in place (unaligned data, rows that had to be reordered).
struct weight_storage {
  std::vector<std::shared_ptr<const file_map>> maps;
  std::vector<std::unique_ptr<std::byte[]>> copies;

  std::byte* add_copy(std::size_t n_bytes);
};

/// A tensor of a file; `type` is absent where kvloom has no such type.
struct file_tensor {
  std::string type_name; ///< as the file calls it ("F8_E4M3", "Q5_K")
  std::optional<dtype> type;
  std::vector<std::int64_t> shape;  ///< slowest axis first
  const std::byte* bytes = nullptr; ///< any alignment
  std::size_t n_bytes = 0;
  std::string file; ///< for messages
};

/// How a file format calls the weights of a layer; empty: has no such thing.
struct layer_names {
  std::string attention_norm, q, k, v, q_bias, k_bias, v_bias, q_norm, k_norm,
      o, o_bias, mlp_norm, gate, up, down, gate_bias, up_bias, down_bias;
};

/// Tensors by name; each is taken once, what is left over is an error.
class weight_table {
public:
  /// Errors: environment where the name occurs twice.
  result<void> add(const std::string& name, file_tensor tensor);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  const file_tensor* find(const std::string& name) const;
  std::size_t size() const { return tensors_.size(); }

  /// Removes a tensor that changes nothing; false where there is none.
  bool drop(const std::string& name) { return tensors_.erase(name) != 0; }

  /// Takes a tensor of exactly this shape, aligned to 4 bytes (copied into
  /// `storage` where it is not). Vectors must be of a plain type. Errors:
  /// environment (absent, wrong shape with both shapes), bad_input (type).
  result<weight_view> take(const std::string& name,
                           const std::vector<std::int64_t>& shape,
                           weight_storage& storage);

  /// Names of what was not taken, sorted.
  std::vector<std::string> names() const;

private:
  std::map<std::string, file_tensor> tensors_;
};

/// Which biases the configuration declares; the weights decide where they are
/// present, a declared bias that is absent is an error.
struct declared_biases {
  bool qkv = false, o = false, mlp = false;
};

/// What assemble() needs to know of a file.
struct assembly {
  model_config config;
  declared_biases biases;
  /// Tells whether a missing head is a fault. Absent: the format has no flag,
  /// a missing head means tied (GGUF).
  std::optional<bool> tied_flag;
  std::string embedding, final_norm, head;        ///< names
  std::function<layer_names(std::int64_t)> layer; ///< names in layer i
  /// q and k rows lie in the order of interleaved pairs (2j, 2j + 1).
  bool interleaved_pairs = false;
  std::filesystem::path path;
  std::vector<std::string> notes;
  weight_storage storage;
};

/// Takes every weight out of the table, checks shapes against the
/// configuration, restores the half layout, and refuses leftovers.
result<std::shared_ptr<const checkpoint>> assemble(assembly parts,
                                                   weight_table table);

/// Rows of `heads` heads from interleaved pairs (2j, 2j + 1) to halves
/// (j, j + head_dim/2), as an owned copy; works on whole rows, so on any
/// element type and on biases ([n], whose elements are the rows).
/// The one place that knows both layouts.
weight_view to_half_layout(const weight_view& interleaved, std::int64_t heads,
                           weight_storage& storage);

/// The largest value that a size of a configuration may have.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 31;

/// Sizes positive and bounded, heads divisible, head_dim even, rope usable,
/// ids inside the vocabulary. Errors: bad_input naming the field.
result<void> check_config(const model_config& config, const std::string& place);

/// "[576, 1536]"
std::string shape_text(const std::vector<std::int64_t>& shape);

} // namespace kvloom::engine
