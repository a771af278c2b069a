// The two checkpoint formats behind open_checkpoint().
#pragma once

#include "core/base/result.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/files/gguf_reader.hpp"

#include <filesystem>
#include <memory>

namespace kvloom::engine {

/// A Hugging Face folder. Errors: as open_checkpoint().
result<std::shared_ptr<const checkpoint>>
open_hf_folder(const std::filesystem::path& folder);

/// A GGUF file. Errors: as open_checkpoint().
result<std::shared_ptr<const checkpoint>>
open_gguf(const std::filesystem::path& path);

/// The configuration that the keys of a GGUF file give; vocab_size 0 where
/// the file does not declare it. Errors: bad_input naming the key.
result<model_config> read_gguf_config(const gguf_file& file,
                                      std::vector<std::string>& notes);

} // namespace kvloom::engine
