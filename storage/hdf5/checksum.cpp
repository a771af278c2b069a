#include "storage/hdf5/checksum.hpp"

#define XXH_STATIC_LINKING_ONLY // a state on the stack
#include <xxhash.h>

namespace kvloom::storage {

std::uint64_t xxh3(std::span<const std::byte> first,
                   std::span<const std::byte> second) {
  if (second.empty()) return XXH3_64bits(first.data(), first.size());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

} // namespace kvloom::storage
