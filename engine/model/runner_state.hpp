// What is behind model_runner and sequence; for the files that implement them.
#pragma once

#include "core/base/sha256.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/model/forward_pass.hpp"
#include "engine/model/kv_tail.hpp"
#include "engine/model/model_runner.hpp"
#include "engine/model/model_weights.hpp"
#include "engine/model/rope.hpp"
#include "engine/segments/request_kv.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace kvloom::engine {

struct sequence::state {
  request_kv kv;
  const void* owner;     ///< state of the runner that made it
  bool unusable = false; ///< an extend was cancelled or failed half-way
};

struct model_runner::state {
  model_config config;
  runner_options options;
  std::string digest;
  std::vector<std::string> notes;
  model_weights weights;
  rotation turn;
  std::int64_t weight_bytes = 0;
  std::optional<forward_pass> pass; ///< refers to the members above
  /// More threads than cores are given when asked for.
  std::optional<tbb::global_control> allowed;
  tbb::task_arena arena;
  std::mutex calls; ///< calls come one at a time; a second one waits

  state(const checkpoint& model, model_weights prepared,
        const runner_options& wanted)
      : config(model.config), options(wanted), digest(engine::digest(model)),
        notes(model.notes),
        weights(std::move(prepared)), turn{inverse_frequencies(config.rope,
                                                               config.head_dim),
                                           rope_magnitude(config.rope)},
        weight_bytes(weights.bytes()), arena(wanted.threads) {
    if (wanted.threads > tbb::info::default_concurrency())
      allowed.emplace(tbb::global_control::max_allowed_parallelism,
                      static_cast<std::size_t>(wanted.threads));
    pass.emplace(config, weights, turn);
  }

  dtype kv_type() const {
    return options.compute == precision::f32 ? dtype::f32 : dtype::bf16;
  }

  bool run(pass_kind kind, std::span<const token_id> ids,
           std::span<const row_span> spans, std::int64_t n_wanted,
           const std::atomic<bool>* stop) {
    return arena.execute(
        [&] { return pass->run(kind, ids, spans, n_wanted, stop); });
  }
};

/// Turns what a library throws into an error; kernels allocate and libtorch
/// throws.
template <class T>
result<T> guarded(const std::function<result<T>()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(errc::environment,
                "the machine ran out of memory for the workspace of this "
                "call; use fewer prefill rows or fewer requests at once");
  } catch (const std::exception& what) {
    return fail(errc::internal, std::string("a kernel failed: ") + what.what());
  }
}

inline result<void> check_ids(std::span<const token_id> ids,
                              std::int64_t vocab) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocab)
      return fail(errc::bad_input,
                  "token id " + std::to_string(ids[i]) + " at place "
                      + std::to_string(i) + " is outside the model's "
                      + std::to_string(vocab)
                      + " ids; use the tokenizer that belongs to the model");
  return {};
}

inline result<void> check_room(const kv_tail& tail, std::size_t n) {
  const auto wanted = tail.length() + static_cast<std::int64_t>(n);
  if (wanted > tail.capacity())
    return fail(errc::bad_input,
                "a sequence of " + std::to_string(tail.length())
                    + " tokens cannot take " + std::to_string(n)
                    + " more: it was started for "
                    + std::to_string(tail.capacity())
                    + "; start it with a larger capacity");
  return {};
}

inline result<void> check_numbers(std::span<const float> logits,
                                  std::int64_t position) {
  std::int32_t n_nan = 0;
  for (const float logit : logits) n_nan += logit != logit ? 1 : 0;
  if (n_nan == 0) return {};
  return fail(errc::environment,
              "the logits at position " + std::to_string(position)
                  + " are not numbers (NaN): the checkpoint holds NaN or "
                    "infinite weights, or the arithmetic overflowed; verify "
                    "the model file, and try precision f32");
}

} // namespace kvloom::engine
