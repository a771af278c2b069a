// What the actors need of a model, and no more: a seam, so that they can be
// tested with a scripted model. The real one is in engine_model.hpp.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"
#include "core/record/request_result.hpp"
#include "engine/decode/sampling.hpp"
#include "engine/prompt/prompt.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::actors {

/// KV of one request. Used with the model that made it, by one call at a
/// time; may be destroyed on any thread.
class generation {
public:
  generation() = default;
  generation(const generation&) = delete;
  generation& operator=(const generation&) = delete;
  virtual ~generation() = default;

  virtual std::int64_t length() const = 0; ///< tokens whose KV is present
};

/// Chooses ids from logits; keeps the state of its random stream.
class token_chooser {
public:
  token_chooser() = default;
  token_chooser(const token_chooser&) = delete;
  token_chooser& operator=(const token_chooser&) = delete;
  virtual ~token_chooser() = default;

  virtual token_id choose(std::span<const float> logits) = 0;
};

/// The text of one answer and when it ends.
class answer_text {
public:
  answer_text() = default;
  answer_text(const answer_text&) = delete;
  answer_text& operator=(const answer_text&) = delete;
  virtual ~answer_text() = default;

  /// Takes the next id; true when the answer is complete.
  virtual bool push(token_id id) = 0;
  virtual const std::vector<token_id>& ids() const = 0;
  virtual std::optional<finish_reason> finish() const = 0;
  virtual const std::string& text() const = 0;
};

/// A loaded model with its tokenizer and prompt. The const functions may be
/// called from any thread at any time; the others by one owner only.
class language_model {
public:
  language_model() = default;
  language_model(const language_model&) = delete;
  language_model& operator=(const language_model&) = delete;
  virtual ~language_model() = default;

  virtual std::int64_t context_length() const = 0; ///< tokens
  virtual std::size_t vocabulary_size() const = 0; ///< floats of a logits row

  /// Facts for the run's manifest: digests, settings, notes.
  virtual std::map<std::string, std::string> digests() const = 0;
  virtual std::map<std::string, std::string> settings() const = 0;
  virtual std::vector<std::string> notes() const = 0;

  virtual result<engine::prompt>
  build_prompt(const question& asked,
               std::span<const passage* const> passages) const = 0;

  /// Ids of plain text, for the scores that count ids.
  virtual result<std::vector<token_id>>
  encode(const std::string& text) const = 0;

  virtual std::unique_ptr<token_chooser>
  new_chooser(const engine::sampling_options& options,
              const std::string& stream) const = 0;

  virtual std::unique_ptr<answer_text>
  new_answer(std::int64_t max_new_tokens,
             const std::vector<std::string>& stop) const = 0;

  /// The n largest logits, largest first.
  virtual std::vector<std::pair<token_id, float>>
  largest(std::span<const float> logits, std::size_t n) const = 0;

  /// Reserves KV for `capacity` tokens.
  virtual result<std::unique_ptr<generation>> start(std::int64_t capacity) = 0;

  /// Appends `ids`; the logits of the last row if wanted, [vocab_size].
  virtual result<std::vector<float>>
  extend(generation& into, std::span<const token_id> ids, bool want_logits,
         const std::atomic<bool>* stop)
      = 0;

  /// One step for every row; logits [rows, vocab_size], valid until the next
  /// call.
  virtual result<std::span<const float>> step(std::span<generation* const> rows,
                                              std::span<const token_id> ids)
      = 0;
};

} // namespace kvloom::actors
