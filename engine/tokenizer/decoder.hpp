// The decoder of tokenizer.json, node by node, in a form that streams.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/split.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvloom::engine {

/// Turns pieces into the bytes of a text, one after the other. Nodes:
/// Sequence, ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip.
/// Immutable, any thread.
///
/// Invalid UTF-8 among byte pieces is left to the reader of the stream, which
/// replaces every maximal part that could have begun a character by one
/// U+FFFD. (The reference gives one U+FFFD for every byte of a run of byte
/// pieces that is invalid anywhere, which cannot be known before the run
/// ends.)
class decoder {
public:
  /// Null gives the reference's fallback: pieces joined by blanks. Errors:
  /// bad_input naming a node that is none of these or that needs the whole
  /// text at once, environment for a malformed node. May throw what the JSON
  /// library throws.
  static result<decoder> make(const nlohmann::json& node);

  /// Appends the bytes of a piece.
  void append(std::string_view piece, decode_state& state,
              std::string& bytes) const;

private:
  struct replace_step {
    split_pattern pattern;
    std::string content;
  };
  struct metaspace_step {
    std::string replacement;
    bool drop_in_first = false; ///< the first piece loses its replacements
  };
  struct strip_step {
    std::string content;
    std::size_t start = 0, stop = 0;
  };
  struct byte_fallback_step {};
  struct byte_level_step {};
  using step = std::variant<replace_step, metaspace_step, strip_step,
                            byte_fallback_step, byte_level_step>;

  result<void> add(const nlohmann::json& node, int depth);
  result<void> add_replace(const nlohmann::json& node);
  result<void> add_metaspace(const nlohmann::json& node);
  result<void> add_strip(const nlohmann::json& node);
  static void run(const step& one, bool first, std::string& piece);

  std::vector<step> steps_; ///< of every piece, in order
  bool fused_ = false;      ///< while nodes are added: pieces are one text now
  bool as_bytes_ = false;   ///< while nodes are added: pieces may be bytes now
  bool blanks_between_ = false;
  char strip_char_ = ' '; ///< leading characters of the text to drop
  std::size_t strip_count_ = 0;
};

} // namespace kvloom::engine
