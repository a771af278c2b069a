#include "core/kv/kv_chunk.hpp"

#include <sys/mman.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace kvloom {

namespace {

/// Bytes that the system says new work may take; none where it does not say.
std::optional<std::int64_t> available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  std::int64_t kib = 0;
  while (in >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(in, unit);
  }
  return std::nullopt;
}

} // namespace

result<kv_buffer> kv_buffer::allocate(std::int64_t bytes) {
  kv_buffer made;
  if (bytes < 0)
    return fail(errc::internal, "a KV buffer of a negative size was asked for");
  if (bytes == 0) return made;
  const auto short_of_memory = [&] {
    return fail(errc::environment,
                "KV of " + std::to_string(bytes)
                    + " bytes was asked for, and the machine has not that "
                      "much memory left; run fewer requests at once, ask for "
                      "fewer tokens, or lower the caps of the KV store");
  };
  // Linux grants a mapping before it has the pages, so ask for both.
  if (const auto left = available_bytes(); left && *left < bytes)
    return short_of_memory();
  void* pages
      = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return short_of_memory();
  // Every step reads all of it: with small pages the look-up of addresses costs
  // more than the bytes (docs/performance.md). A refusal costs speed only.
  static_cast<void>(
      madvise(pages, static_cast<std::size_t>(bytes), MADV_HUGEPAGE));
  made.data_ = static_cast<std::byte*>(pages);
  made.size_ = bytes;
  return made;
}

kv_buffer::kv_buffer(kv_buffer&& other) noexcept {
  *this = std::move(other);
}

kv_buffer& kv_buffer::operator=(kv_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

kv_buffer::~kv_buffer() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(size_));
}

result<std::shared_ptr<kv_chunk>> kv_chunk::make(const kv_shape& shape,
                                                 std::int64_t base,
                                                 std::vector<token_id> ids,
                                                 kv_buffer payload) {
  const bool sizes_fit = shape.n_layers >= 0 && shape.n_kv_heads >= 0
                         && shape.n_tokens >= 0 && shape.head_dim >= 0
                         && std::ssize(ids) == shape.n_tokens
                         && payload.size() >= shape.bytes();
  if (base < 0 || !sizes_fit || is_quantised(shape.type))
    return fail(errc::internal,
                "a chunk of " + std::to_string(shape.n_tokens)
                    + " tokens was made with " + std::to_string(ids.size())
                    + " ids and " + std::to_string(payload.size())
                    + " bytes of its " + std::to_string(shape.bytes()));
  std::shared_ptr<kv_chunk> made(new kv_chunk);
  made->shape_ = shape;
  made->base_ = base;
  made->ids_ = std::move(ids);
  made->payload_ = std::move(payload);
  return made;
}

std::span<const std::byte> kv_chunk::payload() const {
  return {payload_.data(), static_cast<std::size_t>(shape_.bytes())};
}

std::span<std::byte> kv_chunk::payload() {
  return {payload_.data(), static_cast<std::size_t>(shape_.bytes())};
}

const std::byte* kv_chunk::head(std::int64_t layer, std::int64_t k_or_v,
                                std::int64_t kv_head) const {
  return payload_.data() + layer * shape_.layer_bytes()
         + (k_or_v * shape_.n_kv_heads + kv_head) * shape_.head_bytes();
}

std::byte* kv_chunk::head(std::int64_t layer, std::int64_t k_or_v,
                          std::int64_t kv_head) {
  return const_cast<std::byte*>(
      std::as_const(*this).head(layer, k_or_v, kv_head));
}

} // namespace kvloom
