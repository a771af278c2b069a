#include "storage/identity/chunk_key.hpp"

#include "core/base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace kvloom::storage {

namespace {

static_assert(std::endian::native == std::endian::little,
              "chunk files and keys are little-endian");

class field_bytes {
public:
  void add(std::string_view text) {
    const std::uint64_t size = text.size();
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes_.append(text);
  }
  void add(std::int64_t value) {
    add({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void add(std::span<const token_id> ids) {
    add({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  }
  std::string take() { return std::move(bytes_); }

private:
  std::string bytes_;
};

} // namespace

std::string identity_bytes(const chunk_identity& identity) {
  field_bytes out;
  out.add(chunk_schema);
  out.add(kv_layout_id);
  out.add(identity.ids);
  out.add(identity.model_digest);
  out.add(identity.tokenizer_digest);
  out.add(identity.rotary);
  out.add(identity.shape.n_layers);
  out.add(identity.shape.n_kv_heads);
  out.add(identity.shape.n_tokens);
  out.add(identity.shape.head_dim);
  out.add(to_string(identity.shape.type));
  out.add(identity.form);
  out.add(identity.prefix_policy);
  out.add(identity.prefix_ids);
  return out.take();
}

std::string chunk_key(const chunk_identity& identity) {
  return sha256_hex(identity_bytes(identity));
}

bool is_chunk_key(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace kvloom::storage
