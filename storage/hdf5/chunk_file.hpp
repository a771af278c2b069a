// One chunk's KV in one immutable HDF5 file: written once, under its name only
// when complete; every byte that is read is checked.
#pragma once

#include "core/kv/kv_chunk.hpp"
#include "storage/hdf5/chunk_layout.hpp"
#include "storage/hdf5/raw_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kvloom::storage {

/// Smallest and largest key of each page of 16 tokens, as computed (before a
/// lossy form): shape.type [n_layers][n_kv_heads][pages][head_dim].
struct key_summaries {
  std::vector<std::byte> key_min, key_max;
};

struct written_chunk {
  std::filesystem::path path;
  std::int64_t file_bytes = 0;
  bool was_there = false; ///< someone had published it before
};

/// `<folder>/<first two digits>/<key>.h5`
std::filesystem::path chunk_path(const std::filesystem::path& folder,
                                 std::string_view key);

/// Whether the identity speaks of this chunk. Fault: wrong_identity.
chunk_result<void> check_identity(const chunk_identity& identity,
                                  const kv_chunk& chunk);

/// Writes and publishes; any thread and process. The file appears under its
/// name complete and on the device, or not at all. A file that is there already
/// stays. Faults: wrong_identity where the chunk is not the one that the
/// identity speaks of, not_encodable, no_memory, io_error (full, read-only).
chunk_result<written_chunk>
write_chunk_file(const std::filesystem::path& folder,
                 const chunk_identity& identity, const kv_chunk& chunk,
                 std::string_view text = {});

/// Bytes that the file of such a chunk takes, at most.
chunk_result<std::int64_t> most_file_bytes(const chunk_identity& identity,
                                           std::string_view text);

/// An open file whose metadata has been verified. Reads may run in several
/// threads at the same time. Faults of reads: damaged (a checksum), truncated,
/// io_error, no_memory.
class chunk_file {
public:
  const chunk_metadata& metadata() const { return about_; }
  const kv_shape& shape() const { return about_.identity.shape; }

  /// Layers first ... first + count - 1 in shape.type, decoded; `into` has
  /// count * shape.layer_bytes() bytes, aligned to 4.
  chunk_result<void> read_layers(std::int64_t first, std::int64_t count,
                                 std::span<std::byte> into) const;
  chunk_result<void> read_layer(std::int64_t layer,
                                std::span<std::byte> into) const {
    return read_layers(layer, 1, into);
  }

  /// The whole chunk in memory of its own.
  chunk_result<std::shared_ptr<kv_chunk>> read_chunk() const;

  chunk_result<key_summaries> read_key_summaries() const;

  /// Reads everything and keeps nothing.
  chunk_result<void> verify() const;

private:
  friend chunk_result<chunk_file>
  open_chunk_file(const std::filesystem::path& path);

  chunk_result<void> read_metadata(std::uint64_t expected_checksum);
  chunk_result<void> check_layer(std::int64_t layer,
                                 std::span<const std::byte> kv,
                                 std::span<const std::byte> scales) const;
  chunk_result<void> read_same(std::int64_t first, std::int64_t count,
                               std::span<std::byte> into) const;
  chunk_result<void> read_decoded(std::int64_t layer,
                                  std::span<std::byte> into) const;
  tl::unexpected<chunk_fault> damaged(const std::string& what) const;

  raw_file file_;
  std::filesystem::path path_;
  chunk_metadata about_;
};

/// Faults: absent, foreign, unknown_version, truncated, damaged, io_error.
chunk_result<chunk_file> open_chunk_file(const std::filesystem::path& path);

} // namespace kvloom::storage
