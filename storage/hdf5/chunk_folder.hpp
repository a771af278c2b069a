// A folder of chunk files: what lies in it, what was left behind, what is
// wrong.
#pragma once

#include "core/base/result.hpp"
#include "storage/identity/miss_reason.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::storage {

struct found_chunk {
  std::string key; ///< from the name: the file was not opened
  std::int64_t file_bytes = 0;
  std::int64_t modified_ns = 0; ///< since 1970
};

/// All chunk files by name, oldest first (ties by key). A folder that is not
/// there is an empty one. Errors: environment if it can't be read.
result<std::vector<found_chunk>>
list_chunk_files(const std::filesystem::path& folder);

/// A name for this process and thread beside a file that is being written.
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// Removes what dead writers left: temporary files of processes that live no
/// more on this machine, and those older than an hour. Gives their number.
std::int64_t sweep_temporaries(const std::filesystem::path& folder);

struct verified_file {
  std::filesystem::path path;
  bool ok = false;
  chunk_fault why;           ///< where not ok
  std::int64_t n_tokens = 0; ///< where ok
  std::int64_t file_bytes = 0;
};

/// Reads every file whole and checks all of it; by path.
/// Errors: environment if the folder can't be read.
result<std::vector<verified_file>>
verify_folder(const std::filesystem::path& folder);

} // namespace kvloom::storage
