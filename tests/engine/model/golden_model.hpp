// Tiny models of the golden file, written as Hugging Face folders.
#pragma once

#include "core/record/question.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kvloom::engine {

/// A case of tests/data/engine/golden_logits.json.
struct golden_model {
  struct tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    float scale = 0;
    float offset = 0;
  };

  std::string name;
  std::string config; ///< text of config.json
  std::vector<tensor> tensors;
  std::vector<token_id> ids;
  std::vector<std::size_t> rows;          ///< rows that have logits
  std::vector<std::vector<float>> logits; ///< [rows, vocab]
};

const std::vector<golden_model>& golden_models();
const golden_model& golden(const std::string& name);

/// Changes the values of a tensor before they are written.
using edit_values
    = std::function<void(const std::string& name, std::vector<float>& values)>;

/// A folder that is removed with its content.
class scratch_folder {
public:
  explicit scratch_folder(const std::string& name);
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Writes config.json and model.safetensors (f32), weights by the formula of
/// make_golden.py.
void write_model(const golden_model& model, const std::filesystem::path& to,
                 const edit_values& edit = {});

} // namespace kvloom::engine
