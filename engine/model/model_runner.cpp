#include "engine/model/model_runner.hpp"

#include "engine/files/checkpoint.hpp"
#include "engine/model/forward_pass.hpp"
#include "engine/model/kv_tail.hpp"
#include "engine/model/model_weights.hpp"
#include "engine/model/rope.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace kvloom::engine {

struct sequence::state {
  kv_tail tail;
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

  bool run(pass_kind kind, std::span<const token_id> ids,
           std::span<const row_span> spans, std::int64_t n_wanted,
           const std::atomic<bool>* stop) {
    return arena.execute(
        [&] { return pass->run(kind, ids, spans, n_wanted, stop); });
  }
};

namespace {

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

result<void> check_ids(std::span<const token_id> ids, std::int64_t vocab) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocab)
      return fail(errc::bad_input,
                  "token id " + std::to_string(ids[i]) + " at place "
                      + std::to_string(i) + " is outside the model's "
                      + std::to_string(vocab)
                      + " ids; use the tokenizer that belongs to the model");
  return {};
}

result<void> check_room(const kv_tail& tail, std::size_t n) {
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

result<void> check_numbers(std::span<const float> logits,
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

result<runner_options> effective(const runner_options& wanted) {
  runner_options use = wanted;
  if (use.threads < 0)
    return fail(errc::bad_input, "threads is " + std::to_string(use.threads)
                                     + "; it must be 0 (all cores) or more");
  if (use.prefill_rows < 1)
    return fail(errc::bad_input, "prefill_rows is "
                                     + std::to_string(use.prefill_rows)
                                     + "; it must be 1 or more");
  if (use.threads == 0)
    use.threads
        = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return use;
}

} // namespace

sequence::sequence(std::unique_ptr<state> own) : state_(std::move(own)) {}
sequence::sequence(sequence&&) noexcept = default;
sequence& sequence::operator=(sequence&&) noexcept = default;
sequence::~sequence() = default;

std::int64_t sequence::length() const {
  return state_ ? state_->tail.length() : 0;
}

std::int64_t sequence::capacity() const {
  return state_ ? state_->tail.capacity() : 0;
}

std::int64_t sequence::bytes() const {
  return state_ ? state_->tail.bytes() : 0;
}

namespace {

/// Refuses what the attention kernels can't compute (kernels/api/attention.hpp)
/// before gigabytes of weights are converted.
result<void> check_kernels(const checkpoint& model) {
  const auto size = model.config.head_dim;
  if (size >= 16 && size <= 256 && size % 16 == 0) return {};
  return fail(errc::bad_input,
              "the model's head size is " + std::to_string(size)
                  + "; there are kernels for multiples of 16 from 16 to 256",
              model.path.string());
}

} // namespace

model_runner::model_runner(std::unique_ptr<state> own)
    : state_(std::move(own)) {}
model_runner::~model_runner() = default;

result<std::shared_ptr<model_runner>>
model_runner::load(const std::filesystem::path& path,
                   const runner_options& options) {
  auto use = effective(options);
  if (!use) return pass_on(use);
  auto opened = open_checkpoint(path);
  if (!opened) return pass_on(opened);
  const checkpoint& model = **opened;
  if (auto able = check_kernels(model); !able) return pass_on(able);
  use->decode = settled(use->decode, model, use->compute);
  auto weights = prepare_weights(model, use->compute, use->decode);
  if (!weights) return pass_on(weights);
  return guarded<std::shared_ptr<model_runner>>([&] {
    return result<std::shared_ptr<model_runner>>(
        std::shared_ptr<model_runner>(new model_runner(
            std::make_unique<state>(model, std::move(*weights), *use))));
  });
}

const model_config& model_runner::config() const {
  return state_->config;
}

const runner_options& model_runner::options() const {
  return state_->options;
}

const std::string& model_runner::digest() const {
  return state_->digest;
}

std::int64_t model_runner::weight_bytes() const {
  return state_->weight_bytes;
}

std::vector<std::string> model_runner::notes() const {
  return state_->notes;
}

result<sequence> model_runner::start(std::int64_t capacity) {
  const std::int64_t context = state_->config.context_length;
  if (capacity < 1 || capacity > context)
    return fail(errc::bad_input,
                "a sequence of " + std::to_string(capacity)
                    + " tokens was asked for; the model takes 1 to "
                    + std::to_string(context)
                    + "; shorten the prompt or ask for fewer new tokens");
  auto tail = kv_tail::reserve(
      state_->config,
      state_->options.compute == precision::f32 ? dtype::f32 : dtype::bf16,
      capacity);
  if (!tail) return pass_on(tail);
  return guarded<sequence>([&] {
    return result<sequence>(sequence(std::make_unique<sequence::state>(
        sequence::state{std::move(*tail), state_.get()})));
  });
}

result<std::vector<float>> model_runner::extend(sequence& into,
                                                std::span<const token_id> ids,
                                                bool want_logits,
                                                const std::atomic<bool>* stop) {
  const std::scoped_lock one_call(state_->calls);
  if (auto ok = check_usable(into); !ok) return pass_on(ok);
  if (auto ok = check_ids(ids, state_->config.vocab_size); !ok)
    return pass_on(ok);
  kv_tail& tail = into.state_->tail;
  if (auto ok = check_room(tail, ids.size()); !ok) return pass_on(ok);
  if (ids.empty()) return std::vector<float>();
  into.state_->unusable = true; // until the end is reached
  return guarded<std::vector<float>>([&]() -> result<std::vector<float>> {
    const auto block = static_cast<std::size_t>(state_->options.prefill_rows);
    for (std::size_t at = 0; at < ids.size(); at += block) {
      const auto part = ids.subspan(at, std::min(block, ids.size() - at));
      const auto n_rows = static_cast<std::int64_t>(part.size());
      const bool end = at + part.size() == ids.size();
      const row_span rows{&tail, 0, n_rows};
      if (!state_->run(pass_kind::prefill, part, {&rows, 1},
                       end && want_logits ? 1 : 0, stop))
        return fail(errc::cancelled, "the prefill was stopped after "
                                         + std::to_string(tail.length())
                                         + " tokens");
      tail.set_length(tail.length() + n_rows);
    }
    const auto logits = state_->pass->logits();
    if (auto ok = check_numbers(logits, tail.length() - 1); !ok)
      return pass_on(ok);
    into.state_->unusable = false;
    return std::vector<float>(logits.begin(), logits.end());
  });
}

result<std::span<const float>>
model_runner::step(std::span<sequence* const> sequences,
                   std::span<const token_id> ids) {
  const std::scoped_lock one_call(state_->calls);
  if (sequences.size() != ids.size())
    return fail(errc::internal,
                "a step got " + std::to_string(ids.size()) + " ids for "
                    + std::to_string(sequences.size()) + " sequences");
  if (ids.empty()) return std::span<const float>();
  if (auto ok = check_ids(ids, state_->config.vocab_size); !ok)
    return pass_on(ok);
  return guarded<std::span<const float>>(
      [&]() -> result<std::span<const float>> {
        std::vector<row_span> spans;
        for (std::size_t i = 0; i < sequences.size(); ++i) {
          if (sequences[i] == nullptr)
            return fail(errc::internal, "a step got a null sequence");
          if (auto ok = check_usable(*sequences[i]); !ok) return pass_on(ok);
          kv_tail& tail = sequences[i]->state_->tail;
          if (auto ok = check_room(tail, 1); !ok) return pass_on(ok);
          for (const row_span& earlier : spans)
            if (earlier.tail == &tail)
              return fail(errc::internal,
                          "a sequence appears twice in one step");
          spans.push_back({&tail, static_cast<std::int64_t>(i), 1});
        }
        const auto n = static_cast<std::int64_t>(ids.size());
        state_->run(pass_kind::decode, ids, spans, n, nullptr);
        const auto logits = state_->pass->logits();
        const auto vocab = static_cast<std::size_t>(state_->config.vocab_size);
        for (std::size_t i = 0; i < spans.size(); ++i)
          if (auto ok = check_numbers(logits.subspan(i * vocab, vocab),
                                      spans[i].tail->length());
              !ok)
            return pass_on(ok);
        for (const row_span& span : spans)
          span.tail->set_length(span.tail->length() + 1);
        return logits;
      });
}

result<void> model_runner::check_usable(const sequence& one) const {
  if (!one.state_ || one.state_->owner != state_.get())
    return fail(errc::internal, "a sequence was used with a model runner "
                                "that did not make it, or after a move");
  if (one.state_->unusable)
    return fail(errc::bad_input,
                "the sequence was cancelled or failed half-way and cannot "
                "be used any more; start a new one");
  return {};
}

const char* to_string(precision value) {
  switch (value) {
  case precision::f32:
    return "f32";
  case precision::bf16:
    return "bf16";
  }
  return "?";
}

const char* to_string(decode_weights value) {
  switch (value) {
  case decode_weights::same:
    return "same";
  case decode_weights::quantised:
    return "quantised";
  case decode_weights::automatic:
    return "automatic";
  }
  return "?";
}

} // namespace kvloom::engine
