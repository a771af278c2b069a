// What the KV of a chunk depends on, and its name.
#pragma once

#include "core/kv/kv_shape.hpp"
#include "core/record/question.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kvloom::storage {

inline constexpr const char* chunk_schema = "kvloom/chunk/1";

/// Everything that decides the stored bytes. Two chunks with equal identities
/// may stand in for each other; nothing else may.
struct chunk_identity {
  std::vector<token_id> ids;
  std::string model_digest;     ///< weights and what changes the arithmetic
  std::string tokenizer_digest; ///< vocabulary and rules
  std::string rotary;           ///< parameters of the rotation of keys
  kv_shape shape;               ///< n_tokens = ids.size(); type: of computing
  std::string form;             ///< stored: bf16, f16, f32, int8, int4
  std::string prefix_policy;    ///< none, bos, prefix
  /// What the chunk was encoded behind; as many as kv_chunk::base().
  std::vector<token_id> prefix_ids;

  bool operator==(const chunk_identity&) const = default;
};

/// The identity, the schema and the layout of KV as bytes: every field behind
/// its length in 8 little-endian bytes, so no two identities give the same.
std::string identity_bytes(const chunk_identity& identity);

/// SHA-256 of identity_bytes() in 64 lower-case hexadecimal digits.
std::string chunk_key(const chunk_identity& identity);

/// Whether the text could have come from chunk_key().
bool is_chunk_key(std::string_view text);

} // namespace kvloom::storage
