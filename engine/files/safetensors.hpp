// One safetensors file: a JSON header of names, types, shapes and offsets,
// then the data.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/file_map.hpp"
#include "engine/files/weight_table.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::engine {

/// Headers above this are refused. A real model of 1.3 million tensors has
/// one of 126 MB; parsing takes about ten times the header's size in memory.
inline constexpr std::uint64_t largest_safetensors_header = 256ULL << 20;

/// The tensors of a mapped file, in the order of their data. The views are
/// valid as long as the map. Every offset is checked: inside the file, as
/// long as shape and type say, without overlap and without gap.
/// Errors: environment with the path, saying what the file is instead where
/// that can be told.
result<std::vector<std::pair<std::string, file_tensor>>>
read_safetensors(const file_map& file);

} // namespace kvloom::engine
