// A file mapped read-only.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace kvloom::engine {

/// Bytes of a regular file, mapped read-only; unmapped by the destructor.
/// Immutable. A file that another process shortens while it is mapped ends
/// the process with SIGBUS, as with every mapping.
class file_map {
public:
  /// Errors: environment (missing, no regular file, empty, no permission),
  /// with the path as the place.
  static result<std::shared_ptr<const file_map>>
  open(const std::filesystem::path& path);

  ~file_map();
  file_map(const file_map&) = delete;
  file_map& operator=(const file_map&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

private:
  file_map(std::filesystem::path path, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

} // namespace kvloom::engine
