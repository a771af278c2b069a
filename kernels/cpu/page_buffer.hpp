// Memory for weights: aligned, and in huge pages where that helps.
#pragma once

#include <cstddef>
#include <memory>

namespace kvloom::kernels {

/// Frees what allocate_pages() gave.
struct page_free {
  void operator()(std::byte* bytes) const noexcept;
};

using page_buffer = std::unique_ptr<std::byte[], page_free>;

/// `bytes` bytes, uninitialised, aligned to 64; from 4 MiB on aligned to 2 MiB
/// and offered to the system as huge pages (fewer TLB misses in the stream).
/// Null when memory is short; for 0 bytes a valid pointer.
page_buffer allocate_pages(std::size_t bytes) noexcept;

} // namespace kvloom::kernels
