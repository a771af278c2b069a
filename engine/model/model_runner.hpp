// Runs a model: rows in, logits out. Knows no policy.
#pragma once

#include "core/base/result.hpp"
#include "core/record/question.hpp"
#include "engine/model/model_config.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {

/// f32: weights widened to f32, KV in f32, the mode that oracles compare
/// with. bf16: weights and KV in bf16, products accumulated in f32.
enum class precision : std::uint8_t { f32, bf16 };

/// What one-row products (decode) multiply with: the prefill weights, or the
/// file's quantised weights as they are (activations in int8 by blocks of 32;
/// only for checkpoints that are quantised). automatic: quantised where the
/// checkpoint is and the precision is bf16.
enum class decode_weights : std::uint8_t { same, quantised, automatic };

struct runner_options {
  precision compute = precision::bf16;
  decode_weights decode = decode_weights::same;
  int threads = 0; ///< 0: all cores; results do not depend on it
  std::int64_t prefill_rows = 512; ///< rows a block; bounds the workspace
};

/// KV of one request: its own growing tail, and (later) shared segments in
/// front of it. Move-only; used with the runner that made it, by one call at
/// a time.
class sequence {
public:
  sequence(sequence&&) noexcept;
  sequence& operator=(sequence&&) noexcept;
  ~sequence();

  std::int64_t length() const;   ///< tokens whose KV is present
  std::int64_t capacity() const; ///< tokens reserved
  std::int64_t bytes() const;    ///< bytes of KV reserved

private:
  friend class model_runner;
  struct state;
  explicit sequence(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

/// A loaded model. Calls block and run on the runner's own threads; one call
/// at a time (the actors put it behind one owner).
class model_runner {
public:
  /// Loads a checkpoint (GGUF file or Hugging Face folder).
  /// Errors: those of open_checkpoint; environment when memory is short.
  static result<std::shared_ptr<model_runner>>
  load(const std::filesystem::path& path, const runner_options& options);

  ~model_runner();
  model_runner(const model_runner&) = delete;
  model_runner& operator=(const model_runner&) = delete;

  const model_config& config() const;
  const runner_options& options() const;  ///< effective: nothing is left open
  const std::string& digest() const;      ///< of weights and configuration
  std::int64_t weight_bytes() const;      ///< resident weights
  std::vector<std::string> notes() const; ///< findings of loading

  /// Reserves KV for `capacity` tokens. Errors: bad_input when it exceeds the
  /// model's context, environment when memory is short.
  result<sequence> start(std::int64_t capacity);

  /// Appends `ids` at positions length()... and computes their KV, in blocks
  /// of prefill_rows. Returns the logits of the last row, [vocab_size], f32;
  /// empty if `ids` is empty or `want_logits` is false.
  /// Errors: bad_input (id out of range, capacity exceeded), cancelled when
  /// `stop` became true (the sequence is then unusable).
  result<std::vector<float>> extend(sequence& into,
                                    std::span<const token_id> ids,
                                    bool want_logits = true,
                                    const std::atomic<bool>* stop = nullptr);

  /// One decode step for several requests: row i appends ids[i] to
  /// *sequences[i]. Returns logits, [sequences, vocab_size], row-major, valid
  /// until the next call. Equal to one-by-one steps, bit for bit.
  result<std::span<const float>> step(std::span<sequence* const> sequences,
                                      std::span<const token_id> ids);

private:
  struct state;
  explicit model_runner(std::unique_ptr<state> own);
  result<void> check_usable(const sequence& one) const;

  std::unique_ptr<state> state_;
};

const char* to_string(precision value);
const char* to_string(decode_weights value);

} // namespace kvloom::engine
