#include "kernels/cpu/page_buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace kvloom::kernels {

namespace {

constexpr std::size_t line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

} // namespace

void page_free::operator()(std::byte* bytes) const noexcept {
  std::free(bytes);
}

page_buffer allocate_pages(std::size_t bytes) noexcept {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : line;
  if (bytes > static_cast<std::size_t>(-1) / 2) return nullptr;
  const std::size_t rounded
      = (bytes + (bytes == 0) + alignment - 1) / alignment * alignment;
  auto* memory
      = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  // A refusal costs speed only.
  if (memory != nullptr && alignment == huge_page)
    static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
  return page_buffer(memory);
}

} // namespace kvloom::kernels
