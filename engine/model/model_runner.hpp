// Runs a model: rows in, logits out. Knows no policy.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "core/record/question.hpp"
#include "engine/model/model_config.hpp"
#include "engine/prefill/prefill_plan.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {

struct placed_chunk;

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

/// KV of one request: shared chunks, the rows computed among them, and its own
/// growing tail. Move-only; used with the runner that made it, by one call at
/// a time.
class sequence {
public:
  sequence(sequence&&) noexcept;
  sequence& operator=(sequence&&) noexcept;
  ~sequence();

  std::int64_t length() const;   ///< tokens whose KV is present
  std::int64_t capacity() const; ///< tokens that fit, shared ones included
  std::int64_t bytes() const;    ///< bytes of KV of its own

private:
  friend class model_runner;
  struct state;
  explicit sequence(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

/// What model_runner::prefill gives.
struct prefilled_sequence {
  sequence kv;
  prefill_outcome outcome;
};

/// How far a prefill is from full prefill of the same ids (docs/user_guide.md).
struct full_comparison {
  struct layer_error {
    double k = 0, v = 0; ///< |X - X_full| / |X_full| over the context
  };
  std::vector<layer_error> layers;
  double kl = 0; ///< of the first token: full against this, nats
  /// Mean over full prefill's own greedy tokens: negative log-likelihood here
  /// less that there, nats a token.
  double delta_nll = 0;
  std::int64_t agreement = 0; ///< greedy tokens equal from the first on
  std::int64_t n_tokens = 0;  ///< that were compared
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

  /// Prefills a prompt over stored chunks; `capacity` counts the whole prompt.
  /// Ratio 1 and full prefill agree up to the order of sums. Errors: bad_input
  /// (no question, ids out of range, a plan out of range, capacity as
  /// start()), internal (chunks of another shape or other ids), cancelled,
  /// environment.
  result<prefilled_sequence> prefill(const prefill_plan& plan,
                                     std::int64_t capacity,
                                     const std::atomic<bool>* stop = nullptr);

  /// KV of chunks, each by itself behind `prefix` (null: none), at positions
  /// prefix length ... Several chunks share a pass. Errors as extend().
  result<std::vector<std::shared_ptr<kv_chunk>>>
  encode(std::span<const std::span<const token_id>> chunks,
         const kv_lease& prefix, const std::atomic<bool>* stop = nullptr);

  /// Compares what prefill() gave for `plan` with full prefill, over `n_tokens`
  /// greedy tokens. Costs a full prefill and twice the steps; `one` ends as it
  /// was. Errors as prefill().
  result<full_comparison> compare(const prefill_plan& plan, sequence& one,
                                  std::span<const float> logits,
                                  std::int64_t n_tokens,
                                  const std::atomic<bool>* stop = nullptr);

  /// Element type and shape of this model's KV, for n tokens.
  kv_shape shape_of(std::int64_t n_tokens) const;
  /// What turns its keys: scheme, base, frequencies; part of a chunk's key.
  std::string rotary_id() const;

  /// One decode step for several requests: row i appends ids[i] to
  /// *sequences[i]. Returns logits, [sequences, vocab_size], row-major, valid
  /// until the next call. Equal to one-by-one steps, bit for bit.
  result<std::span<const float>> step(std::span<sequence* const> sequences,
                                      std::span<const token_id> ids);

private:
  struct state;
  explicit model_runner(std::unique_ptr<state> own);
  result<void> check_usable(const sequence& one) const;
  result<void> check_plan(const prefill_plan& plan) const;
  result<prefilled_sequence> prefill_plan_once(const prefill_plan& plan,
                                               std::int64_t capacity,
                                               const std::atomic<bool>* stop);
  result<sequence> start_behind(std::vector<placed_chunk> chunks,
                                std::int64_t n_context, std::int64_t n_tail);

  std::unique_ptr<state> state_;
};

const char* to_string(precision value);
const char* to_string(decode_weights value);

} // namespace kvloom::engine
