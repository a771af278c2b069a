// XXH3-64 of bytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvloom::storage {

/// Of `first` followed by `second`.
std::uint64_t xxh3(std::span<const std::byte> first,
                   std::span<const std::byte> second = {});

} // namespace kvloom::storage
