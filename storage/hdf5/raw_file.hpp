// A file descriptor that closes itself, with reads and writes that finish.
#pragma once

#include "storage/identity/miss_reason.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace kvloom::storage {

/// Move-only. read_at() and write_at() of one object may run at the same time.
/// Faults: absent where there is no such file, else io_error (read_at: also
/// truncated); the message begins with the path.
class raw_file {
public:
  /// Flags of open(2); close-on-exec is added.
  static chunk_result<raw_file> open(const std::filesystem::path& path,
                                     int flags);

  raw_file() = default;
  raw_file(raw_file&& other) noexcept;
  raw_file& operator=(raw_file&& other) noexcept;
  ~raw_file();

  /// Bytes of a regular file; foreign if it is anything else.
  chunk_result<std::int64_t> size() const;
  chunk_result<void> read_at(std::int64_t offset,
                             std::span<std::byte> into) const;
  chunk_result<void> write_at(std::int64_t offset,
                              std::span<const std::byte> bytes) const;
  /// Grows or cuts the file; new bytes are 0 and take no space yet.
  chunk_result<void> resize(std::int64_t bytes) const;
  /// Returns when the bytes (for a folder: its names) are on the device.
  chunk_result<void> sync() const;

private:
  int fd_ = -1;
  std::filesystem::path path_;
};

} // namespace kvloom::storage
