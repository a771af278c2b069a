// The normalizer of tokenizer.json, node by node.
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// Rewrites text before it is cut. Immutable, any thread.
class normalizer {
public:
  virtual ~normalizer() = default;
  /// Rewrites valid UTF-8 in place.
  virtual result<void> apply(std::string& text) const = 0;
};

/// Builds a node: Sequence, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents,
/// Strip, Prepend, Replace, ByteLevel; null gives a null pointer. Errors:
/// bad_input naming a node type that is none of these, environment for a
/// malformed node. May throw what the JSON library throws.
result<std::shared_ptr<const normalizer>>
make_normalizer(const nlohmann::json& node, int depth = 0);

} // namespace kvloom::engine
