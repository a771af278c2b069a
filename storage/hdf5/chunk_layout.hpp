// What is where in a chunk file (docs/formats.md): the only place that calls
// HDF5. The library makes and reads names, types, sizes and attributes; the
// contents of datasets go past it, at the places that it gave them.
#pragma once

#include "storage/hdf5/kv_form.hpp"
#include "storage/identity/chunk_key.hpp"
#include "storage/identity/miss_reason.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kvloom::storage {

/// Tokens of one row of key_min and key_max.
inline constexpr std::int64_t summary_page_tokens = 16;

constexpr std::int64_t summary_pages(const kv_shape& shape) {
  return (shape.n_tokens + summary_page_tokens - 1) / summary_page_tokens;
}

/// Bytes of key_min (and of key_max): shape.type
/// [n_layers][n_kv_heads][pages][head_dim].
constexpr std::int64_t summary_bytes(const kv_shape& shape) {
  return shape.n_layers * shape.n_kv_heads * summary_pages(shape)
         * shape.head_dim * block_bytes(shape.type);
}

/// A place in the file. A dataset without elements has none: both are 0.
struct byte_range {
  std::int64_t offset = 0, bytes = 0;
};

/// The datasets; row-major, little-endian, without gaps.
struct chunk_places {
  byte_range kv;         ///< [n_layers][2][n_kv_heads][n_tokens][head_dim]
  byte_range scales;     ///< f32 [n_layers][2][n_kv_heads][n_tokens]
  byte_range ids;        ///< int32 [n_tokens]
  byte_range prefix_ids; ///< int32 [base]
  byte_range checksums;  ///< uint64 [n_layers]
  byte_range key_min, key_max;
  byte_range text; ///< UTF-8
};

/// All but the contents of kv, scales and the summaries.
struct chunk_metadata {
  std::string key;
  chunk_identity identity;
  kv_form form = kv_form::bf16; ///< identity.form
  std::int64_t base = 0;
  std::string text; ///< of the passage; may be empty
  /// XXH3-64 of each layer of kv followed by its scales.
  std::vector<std::uint64_t> layer_checksums;
  std::uint64_t summary_checksum = 0; ///< of key_min followed by key_max
  std::int64_t file_bytes = 0;
  chunk_places places;
};

/// XXH3-64 over everything in the metadata that a reader relies on.
std::uint64_t meta_checksum(const chunk_metadata& about);

/// Makes the file, which must not exist, with everything but the contents of
/// its datasets; gives their places. Faults: io_error (the file may be left),
/// not_encodable for text with NUL bytes.
chunk_result<chunk_places> create_layout(const std::filesystem::path& path,
                                         const chunk_metadata& about);

/// Reads names, types, sizes, places and attributes, all of them checked
/// against one another and against the true size of the file. Contents of
/// datasets (ids, checksums, text) are left to the caller, meta_checksum too.
/// Faults: foreign, unknown_version, damaged.
struct layout_found {
  chunk_metadata about;
  std::uint64_t meta_checksum = 0;
};
chunk_result<layout_found> read_layout(const std::filesystem::path& path,
                                       std::int64_t true_file_bytes);

} // namespace kvloom::storage
