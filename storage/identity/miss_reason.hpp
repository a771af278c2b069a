// Why stored KV could not be had, or could not be stored.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace kvloom::storage {

/// docs/storage.md says what each means to a user. All of them mean the same
/// to a request: compute the chunk.
enum class miss_reason : std::uint8_t {
  none,            ///< it was there
  absent,          ///< never stored, evicted, or removed by someone
  damaged,         ///< a checksum or a field of the file is wrong
  truncated,       ///< the file is shorter than it says
  foreign,         ///< not a chunk file
  unknown_version, ///< a chunk file of another schema, layout or element type
  wrong_identity,  ///< the file holds another chunk than its name says
  io_error,        ///< the system refused to open, read or write
  too_large,       ///< larger than the whole tier
  no_room,         ///< all else in the tier is in use, pinned or unsaved
  no_memory,       ///< the machine has not the memory
  not_encodable,   ///< the stored form can't hold these values
  cancelled,       ///< the prefetch was called off, or the store closes
};
inline constexpr std::size_t n_miss_reasons = 13;

const char* to_string(miss_reason reason);

/// A reason with its words: path, what was found, what was wanted.
struct chunk_fault {
  miss_reason reason = miss_reason::none;
  std::string message;
};

template <class T>
using chunk_result = tl::expected<T, chunk_fault>;

inline tl::unexpected<chunk_fault> fault(miss_reason reason,
                                         std::string message) {
  return tl::unexpected<chunk_fault>(chunk_fault{reason, std::move(message)});
}

template <class T>
tl::unexpected<chunk_fault> pass_on(chunk_result<T>& failed) {
  return tl::unexpected<chunk_fault>(std::move(failed.error()));
}

} // namespace kvloom::storage
