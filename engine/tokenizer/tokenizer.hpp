// Text to token ids and back, equal to the reference tokenizer of the model.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::engine {

/// Where the decoding of a list of ids stands; starts as it is here.
struct decode_state {
  bool any = false;            ///< an id gave a piece before
  bool stripped = false;       ///< nothing more is cut from the text's start
  std::size_t strip_count = 0; ///< characters cut so far
};

/// A loaded tokenizer. Immutable; encode and decode may be called from any
/// thread at the same time.
class tokenizer {
public:
  virtual ~tokenizer() = default;

  /// Ids of plain text. Never adds special tokens and never produces control
  /// tokens: their spelling in the text is tokenised like any other text.
  /// Errors: bad_input when the text is not valid UTF-8.
  virtual result<std::vector<token_id>> encode(std::string_view text) const = 0;

  /// Ids of plain text that others come before: as encode(), without what the
  /// file wants at the start of a whole text only (Metaspace with
  /// "prepend_scheme": "first").
  virtual result<std::vector<token_id>>
  encode_inside(std::string_view text) const = 0;

  /// Ids of a text of a template, in which the spelling of a control token
  /// stands for the token (as Hugging Face does with special tokens).
  virtual result<std::vector<token_id>>
  encode_with_control(std::string_view text) const = 0;

  /// Bytes of one id as they enter a stream: byte pieces give their byte,
  /// control tokens give nothing. Joining all pieces, removing the leading
  /// space that the format says is not part of the text, and replacing
  /// invalid UTF-8 gives decode().
  virtual std::string decode(std::span<const token_id> ids) const = 0;

  /// Appends the bytes that the next id adds to a decoded text, before
  /// invalid UTF-8 is replaced. Unknown ids add nothing.
  virtual void decode_next(token_id id, decode_state& state,
                           std::string& bytes) const = 0;

  /// The id of a token with exactly this spelling (`<|im_start|>`).
  virtual std::optional<token_id> find(std::string_view piece) const = 0;

  /// The spelling in the vocabulary, for messages and `kvloom tokenize`.
  virtual std::string piece(token_id id) const = 0;

  virtual std::size_t size() const = 0; ///< largest id + 1

  /// Token that starts every prompt, where the model wants one.
  virtual std::optional<token_id> bos() const = 0;

  /// SHA-256 of everything that changes ids.
  virtual const std::string& digest() const = 0;

  /// The file's chat template (Jinja text), empty where it has none. It is
  /// not executed; it serves to recognise the declared template.
  virtual const std::string& chat_template() const = 0;
};

/// Decodes a growing list of ids: what push() returned so far plus finish()
/// equals decode() of the whole list, byte for byte. Incomplete UTF-8 is held
/// back. Not thread-safe.
class stream_decoder {
public:
  explicit stream_decoder(std::shared_ptr<const tokenizer> owner);
  ~stream_decoder();
  stream_decoder(stream_decoder&&) noexcept;
  stream_decoder& operator=(stream_decoder&&) noexcept;

  /// Text that became certain with this id; may be empty.
  std::string push(token_id id);

  /// The rest, with an incomplete tail as U+FFFD.
  std::string finish();

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Loads the tokenizer of a model: `tokenizer.json` in a folder (with
/// `tokenizer_config.json` beside it for BOS and template), or the vocabulary
/// inside a GGUF file (kinds gpt2 and llama). A tokenizer.json path works too.
/// Errors: environment (missing, malformed), bad_input (an unknown node of
/// the tokenizer graph, named).
result<std::shared_ptr<const tokenizer>>
load_tokenizer(const std::filesystem::path& path);

} // namespace kvloom::engine
