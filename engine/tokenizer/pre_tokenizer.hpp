// The pre-tokenizer of tokenizer.json, node by node.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/segmented_text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace kvloom::engine {

/// Cuts text into the words that the model sees. Immutable, any thread.
class pre_tokenizer {
public:
  virtual ~pre_tokenizer() = default;
  /// Works on the segments that are no ids yet.
  virtual result<void> apply(segmented_text& all) const = 0;
};

/// Builds a node: Sequence, ByteLevel, Split, Digits, Punctuation,
/// Whitespace, WhitespaceSplit, Metaspace, CharDelimiterSplit; null gives a
/// null pointer. Errors: bad_input naming a node type that is none of these,
/// environment for a malformed node. May throw what the JSON library throws.
result<std::shared_ptr<const pre_tokenizer>>
make_pre_tokenizer(const nlohmann::json& node, int depth = 0);

} // namespace kvloom::engine
