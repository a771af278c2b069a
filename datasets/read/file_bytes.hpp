// The bytes of a data file, decompressed where they are gzip.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kvloom::datasets {

struct file_bytes {
  std::string text;   ///< decompressed
  std::string sha256; ///< of the file as it lies on disk
  bool gzip = false;
};

/// Reads a whole file. Gzip (RFC 1952, any number of members) is told by its
/// first bytes. Nothing above `max_bytes` is ever held, whatever the file
/// expands to. Errors: environment (missing, unreadable, a folder), bad_input
/// (too large, damaged gzip).
result<file_bytes> read_file_bytes(const std::filesystem::path& path,
                                   std::uint64_t max_bytes);

/// Decompresses gzip members; `place` is for errors.
result<std::string> gunzip(std::string_view packed, std::uint64_t max_bytes,
                           const std::string& place);

} // namespace kvloom::datasets
