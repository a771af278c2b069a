// The KV of one chunk in host memory: made once, then immutable and shared.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_shape.hpp"
#include "core/record/question.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvloom {

/// Bytes from the system, page-aligned and in huge pages where it has them;
/// given back on destruction. Move-only. Contents are undefined at first.
class kv_buffer {
public:
  /// Errors: environment when the machine has not that much memory left.
  static result<kv_buffer> allocate(std::int64_t bytes);

  kv_buffer() = default;
  kv_buffer(kv_buffer&& other) noexcept;
  kv_buffer& operator=(kv_buffer&& other) noexcept;
  ~kv_buffer();

  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }

private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Keys are rotated at the chunk-local positions base ... base + n_tokens - 1
/// (base: length of the prefix it was encoded behind, 0 without one). Whoever
/// makes it fills the payload before anyone else sees it; from then on it is
/// const and may be read from any thread. A chunk without tokens has no bytes.
class kv_chunk {
public:
  /// `payload` holds at least shape.bytes(); `ids` are shape.n_tokens. Errors:
  /// internal if they do not.
  static result<std::shared_ptr<kv_chunk>> make(const kv_shape& shape,
                                                std::int64_t base,
                                                std::vector<token_id> ids,
                                                kv_buffer payload);

  const kv_shape& shape() const { return shape_; }
  std::int64_t base() const { return base_; }
  std::span<const token_id> ids() const { return ids_; }
  std::span<const std::byte> payload() const;
  std::span<std::byte> payload();

  /// First byte of K (k_or_v 0) or V (1) of a head: [n_tokens][head_dim].
  const std::byte* head(std::int64_t layer, std::int64_t k_or_v,
                        std::int64_t kv_head) const;
  std::byte* head(std::int64_t layer, std::int64_t k_or_v,
                  std::int64_t kv_head);

private:
  kv_chunk() = default;

  kv_shape shape_;
  std::int64_t base_ = 0;
  std::vector<token_id> ids_;
  kv_buffer payload_;
};

/// A reader's hold on a chunk: while one lives, the bytes stay, whatever the
/// store evicts.
using kv_lease = std::shared_ptr<const kv_chunk>;

} // namespace kvloom
