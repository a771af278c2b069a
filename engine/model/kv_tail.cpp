#include "engine/model/kv_tail.hpp"

#include "kernels/api/elementwise.hpp"

#include <sys/mman.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace kvloom::engine {

namespace {

/// Rows of KV worth a task of their own.
constexpr std::int64_t rows_a_task = 32;

/// Bytes that the system says new work may take; none where it does not say.
std::optional<std::int64_t> available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::string unit;
  std::int64_t kib = 0;
  while (in >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(in, unit);
  }
  return std::nullopt;
}

tl::unexpected<error> short_of_memory(std::int64_t bytes,
                                      std::int64_t capacity) {
  return fail(errc::environment,
              "the KV of " + std::to_string(capacity) + " tokens needs "
                  + std::to_string(bytes)
                  + " bytes, and the machine has not that much memory left; "
                    "run fewer requests at once or ask for fewer tokens");
}

} // namespace

result<kv_tail> kv_tail::reserve(const model_config& model, dtype type,
                                 std::int64_t capacity) {
  kv_tail made;
  made.type_ = type;
  made.n_kv_heads_ = model.n_kv_heads;
  made.head_dim_ = model.head_dim;
  made.capacity_ = capacity;
  made.bytes_ = capacity * model.kv_bytes_per_token(block_bytes(type));
  // Linux grants a mapping before it has the pages, so ask for both.
  if (const auto left = available_bytes(); left && *left < made.bytes_)
    return short_of_memory(made.bytes_, capacity);
  void* pages
      = mmap(nullptr, static_cast<std::size_t>(made.bytes_),
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return short_of_memory(made.bytes_, capacity);
  // Every step reads all of it: with small pages the look-up of addresses costs
  // more than the bytes (docs/performance.md). A refusal costs speed only.
  static_cast<void>(
      madvise(pages, static_cast<std::size_t>(made.bytes_), MADV_HUGEPAGE));
  made.base_ = static_cast<std::byte*>(pages);
  return made;
}

kv_tail::kv_tail(kv_tail&& other) noexcept {
  *this = std::move(other);
}

kv_tail& kv_tail::operator=(kv_tail&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(type_, other.type_);
  std::swap(n_kv_heads_, other.n_kv_heads_);
  std::swap(head_dim_, other.head_dim_);
  std::swap(capacity_, other.capacity_);
  std::swap(length_, other.length_);
  return *this;
}

kv_tail::~kv_tail() {
  if (base_ != nullptr) munmap(base_, static_cast<std::size_t>(bytes_));
}

std::byte* kv_tail::head(std::int64_t layer, std::int64_t k_or_v,
                         std::int64_t kv_head) const {
  const std::int64_t index = (layer * 2 + k_or_v) * n_kv_heads_ + kv_head;
  return base_ + index * capacity_ * head_dim_ * block_bytes(type_);
}

void kv_tail::write(std::int64_t layer, std::int64_t first, std::int64_t n_rows,
                    const float* k, const float* v, std::int64_t row_stride) {
  const std::int64_t token_bytes = head_dim_ * block_bytes(type_);
  const auto write_row = [&](std::int64_t r) {
    for (std::int64_t h = 0; h < n_kv_heads_; ++h) {
      const std::int64_t from = r * row_stride + h * head_dim_;
      const std::int64_t to = (first + r) * token_bytes;
      kernels::narrow(head_dim_, k + from, type_, head(layer, 0, h) + to);
      kernels::narrow(head_dim_, v + from, type_, head(layer, 1, h) + to);
    }
  };
  if (n_rows < 2 * rows_a_task) {
    for (std::int64_t r = 0; r < n_rows; ++r) write_row(r);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n_rows, rows_a_task),
                    [&](const tbb::blocked_range<std::int64_t>& rows) {
                      for (std::int64_t r = rows.begin(); r < rows.end(); ++r)
                        write_row(r);
                    });
}

kernels::kv_segment_view kv_tail::view(std::int64_t layer, std::int64_t first,
                                       std::int64_t last) const {
  const std::int64_t skip = first * head_dim_ * block_bytes(type_);
  kernels::kv_segment_view seen;
  seen.k = head(layer, 0, 0) + skip;
  seen.v = head(layer, 1, 0) + skip;
  seen.type = type_;
  seen.head_stride = capacity_ * head_dim_;
  seen.n_keys = last - first;
  seen.first_position = first;
  return seen;
}

} // namespace kvloom::engine
