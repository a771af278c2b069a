#include "engine/model/model_runner.hpp"

#include "engine/files/checkpoint.hpp"
#include "engine/model/runner_state.hpp"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

namespace kvloom::engine {

namespace {

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
  return state_ ? state_->kv.length() : 0;
}

std::int64_t sequence::capacity() const {
  return state_
             ? state_->kv.tail().first_position() + state_->kv.tail().capacity()
             : 0;
}

std::int64_t sequence::bytes() const {
  return state_ ? state_->kv.bytes() : 0;
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
  return start_behind({}, 0, capacity);
}

result<sequence> model_runner::start_behind(std::vector<placed_chunk> chunks,
                                            std::int64_t n_context,
                                            std::int64_t n_tail) {
  auto tail
      = kv_tail::reserve(state_->config, state_->kv_type(), n_tail, n_context);
  if (!tail) return pass_on(tail);
  return guarded<sequence>([&] {
    auto kv = n_context == 0 ? request_kv(std::move(*tail))
                             : request_kv(std::move(*tail), std::move(chunks),
                                          state_->config.n_layers);
    return result<sequence>(sequence(std::make_unique<sequence::state>(
        sequence::state{std::move(kv), state_.get()})));
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
  request_kv& kv = into.state_->kv;
  kv_tail& tail = kv.tail();
  if (auto ok = check_room(tail, ids.size()); !ok) return pass_on(ok);
  if (ids.empty()) return std::vector<float>();
  into.state_->unusable = true; // until the end is reached
  return guarded<std::vector<float>>([&]() -> result<std::vector<float>> {
    const auto block = static_cast<std::size_t>(state_->options.prefill_rows);
    for (std::size_t at = 0; at < ids.size(); at += block) {
      const auto part = ids.subspan(at, std::min(block, ids.size() - at));
      const auto n_rows = static_cast<std::int64_t>(part.size());
      const bool end = at + part.size() == ids.size();
      const row_span rows{&kv, 0, n_rows};
      if (!state_->run(pass_kind::prefill, part, {&rows, 1},
                       end && want_logits ? 1 : 0, stop))
        return fail(errc::cancelled, "the prefill was stopped after "
                                         + std::to_string(tail.length())
                                         + " tokens");
      tail.set_length(tail.length() + n_rows);
    }
    const auto logits = state_->pass->logits();
    if (auto ok = check_numbers(logits, kv.length() - 1); !ok)
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
          request_kv& kv = sequences[i]->state_->kv;
          if (auto ok = check_room(kv.tail(), 1); !ok) return pass_on(ok);
          for (const row_span& earlier : spans)
            if (earlier.kv == &kv)
              return fail(errc::internal,
                          "a sequence appears twice in one step");
          spans.push_back({&kv, static_cast<std::int64_t>(i), 1});
        }
        const auto n = static_cast<std::int64_t>(ids.size());
        state_->run(pass_kind::decode, ids, spans, n, nullptr);
        const auto logits = state_->pass->logits();
        const auto vocab = static_cast<std::size_t>(state_->config.vocab_size);
        for (std::size_t i = 0; i < spans.size(); ++i)
          if (auto ok = check_numbers(logits.subspan(i * vocab, vocab),
                                      spans[i].kv->length());
              !ok)
            return pass_on(ok);
        for (const row_span& span : spans) {
          auto& tail = span.kv->tail();
          tail.set_length(tail.length() + 1);
        }
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
