// model_runner's work on stored KV: prefill over chunks, encoding of chunks,
// comparison with full prefill.
#include "engine/model/runner_state.hpp"
#include "engine/prefill/blend_pass.hpp"
#include "engine/segments/dense_kv.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace kvloom::engine {

namespace {

/// The same prompt with nothing stored.
prefill_plan without_kv(const prefill_plan& plan) {
  prefill_plan full = plan;
  full.blend = {};
  for (auto& piece : full.context) piece.kv = nullptr;
  return full;
}

std::int64_t context_size(const prefill_plan& plan) {
  std::int64_t n = 0;
  for (const auto& piece : plan.context) n += std::ssize(piece.ids);
  return n;
}

double squared(std::span<const float> x) {
  double sum = 0;
  for (const float value : x)
    sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double squared_difference(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return sum;
}

/// Adds to `scores` (one a reused row) a layer's squared error of the stored
/// rows against the fresh ones, over the layer's mean.
void add_errors(const prefill_plan& plan, const request_kv& fresh,
                std::int64_t layer, const model_config& config,
                const rotation& turn, std::vector<double>& scores) {
  const std::int64_t width = config.n_kv_heads * config.head_dim;
  const auto row = [width](const std::vector<float>& rows, std::int64_t i) {
    return std::span<const float>(rows).subspan(
        static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
  };
  std::size_t at = 0;
  std::int64_t start = 0;
  const auto n_context = context_size(plan);
  const auto full = read_dense(fresh, layer, 0, n_context, config.n_kv_heads,
                               config.head_dim, turn);
  const auto rows = static_cast<double>(std::max<std::int64_t>(n_context, 1));
  const double mean_k = std::max(squared(full.k) / rows, 1e-30);
  const double mean_v = std::max(squared(full.v) / rows, 1e-30);
  for (const auto& piece : plan.context) {
    const auto n = std::ssize(piece.ids);
    if (piece.kv && piece.repairable && n > 0) {
      const auto stored
          = read_dense(placed_chunk{piece.kv, start}, layer, turn);
      for (std::int64_t i = 0; i < n; ++i)
        scores[at++]
            += squared_difference(row(stored.k, i), row(full.k, start + i))
                   / mean_k
               + squared_difference(row(stored.v, i), row(full.v, start + i))
                     / mean_v;
    }
    start += n;
  }
}

/// log p of all ids from logits.
std::vector<double> log_softmax(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float x : logits)
    sum += std::exp(static_cast<double>(x) - largest);
  const double norm = largest + std::log(sum);
  std::vector<double> out(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    out[i] = static_cast<double>(logits[i]) - norm;
  return out;
}

double divergence(std::span<const float> full, std::span<const float> other) {
  const auto p = log_softmax(full), q = log_softmax(other);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    sum += std::exp(p[i]) * (p[i] - q[i]);
  return std::max(sum, 0.0);
}

token_id likeliest(std::span<const float> logits) {
  return static_cast<token_id>(std::max_element(logits.begin(), logits.end())
                               - logits.begin());
}

} // namespace

kv_shape model_runner::shape_of(std::int64_t n_tokens) const {
  const auto& config = state_->config;
  return {config.n_layers, config.n_kv_heads, n_tokens, config.head_dim,
          state_->kv_type()};
}

std::string model_runner::rotary_id() const {
  // The frequencies say it all, whatever scheme made them.
  sha256 digest;
  const auto& turn = state_->turn;
  digest.add(std::as_bytes(std::span(turn.inverse_frequencies)));
  digest.add(std::as_bytes(std::span(&turn.magnitude, 1)));
  return digest.hex();
}

result<void> model_runner::check_plan(const prefill_plan& plan) const {
  if (plan.question.empty())
    return fail(errc::bad_input,
                "a prefill needs at least one id behind its context");
  const auto vocab = state_->config.vocab_size;
  for (const auto& piece : plan.context) {
    if (auto ok = check_ids(piece.ids, vocab); !ok) return ok;
    if (!piece.kv) continue;
    const auto stored = piece.kv->ids();
    if (piece.kv->shape() != shape_of(std::ssize(piece.ids))
        || !std::equal(stored.begin(), stored.end(), piece.ids.begin()))
      return fail(errc::internal,
                  "a stored chunk has another shape or other ids than its "
                  "place in the prompt");
  }
  if (auto ok = check_ids(plan.question, vocab); !ok) return ok;
  std::int64_t layer = -1;
  double ratio = 1;
  const auto& stages = plan.blend.stages;
  if (stages.empty())
    return fail(errc::bad_input, "a plan needs at least one check layer");
  for (const auto& stage : stages) {
    if (stage.layer <= layer || stage.layer >= state_->config.n_layers)
      return fail(errc::bad_input,
                  "check layer " + std::to_string(stage.layer)
                      + " is out of order, or the model has only "
                      + std::to_string(state_->config.n_layers)
                      + " layers; give ascending layers from 0 on");
    if (!(stage.ratio >= 0 && stage.ratio <= ratio))
      return fail(errc::bad_input,
                  "a recompute ratio of " + std::to_string(stage.ratio)
                      + " is not from 0 to 1, or more than the one before it");
    layer = stage.layer;
    ratio = stage.ratio;
  }
  return {};
}

result<prefilled_sequence>
model_runner::prefill_plan_once(const prefill_plan& plan, std::int64_t capacity,
                                const std::atomic<bool>* stop) {
  const auto n_context = context_size(plan);
  const auto& config = state_->config;
  auto made
      = start_behind(placed_chunks(plan), n_context, capacity - n_context);
  if (!made) return pass_on(made);
  if (n_context == 0) { // nothing in front of the tail
    return guarded<prefilled_sequence>([&]() -> result<prefilled_sequence> {
      const row_span rows{&made->state_->kv, 0, std::ssize(plan.question)};
      if (!state_->run(pass_kind::prefill, plan.question, {&rows, 1}, 1, stop))
        return fail(errc::cancelled, "the prefill was stopped");
      made->state_->kv.tail().set_length(rows.n_rows);
      prefill_outcome out;
      const auto logits = state_->pass->logits();
      out.logits.assign(logits.begin(), logits.end());
      return prefilled_sequence{std::move(*made), std::move(out)};
    });
  }
  return guarded<prefilled_sequence>([&]() -> result<prefilled_sequence> {
    return state_->arena.execute([&]() -> result<prefilled_sequence> {
      std::vector<double> oracle;
      if (plan.blend.rule == selector::oracle) {
        const auto full = without_kv(plan);
        auto other = start_behind({}, n_context, std::ssize(plan.question));
        if (!other) return pass_on(other);
        blend_pass truth(config, state_->turn, state_->kv_type(), *state_->pass,
                         full);
        auto mass = truth.question_attention(other->state_->kv, false, stop);
        if (!mass) return pass_on(mass);
        other->state_->kv.tail().set_length(0);
        blend_pass own(config, state_->turn, state_->kv_type(), *state_->pass,
                       plan);
        oracle.resize(own.reused().size());
        for (std::int64_t l = 0; l < config.n_layers; ++l)
          add_errors(plan, other->state_->kv, l, config, state_->turn, oracle);
        for (std::size_t i = 0; i < oracle.size(); ++i)
          oracle[i] *= (*mass)[static_cast<std::size_t>(own.reused()[i])];
      }
      blend_pass pass(config, state_->turn, state_->kv_type(), *state_->pass,
                      plan);
      auto out = pass.run(made->state_->kv, oracle, stop);
      if (!out) return pass_on(out);
      return prefilled_sequence{std::move(*made), std::move(*out)};
    });
  });
}

result<prefilled_sequence>
model_runner::prefill(const prefill_plan& plan, std::int64_t capacity,
                      const std::atomic<bool>* stop) {
  const std::scoped_lock one_call(state_->calls);
  if (auto ok = check_plan(plan); !ok) return pass_on(ok);
  const auto prompt = context_size(plan) + std::ssize(plan.question);
  const auto context = state_->config.context_length;
  if (capacity < prompt || capacity > context)
    return fail(errc::bad_input,
                "a sequence of " + std::to_string(capacity)
                    + " tokens was asked for; the prompt has "
                    + std::to_string(prompt) + " and the model takes "
                    + std::to_string(context)
                    + "; shorten the prompt or ask for fewer new tokens");
  auto done = prefill_plan_once(plan, capacity, stop);
  if (!done) return done;
  if (auto ok = check_numbers(done->outcome.logits, prompt - 1); !ok)
    return pass_on(ok);
  return done;
}

result<std::vector<std::shared_ptr<kv_chunk>>>
model_runner::encode(std::span<const std::span<const token_id>> chunks,
                     const kv_lease& prefix, const std::atomic<bool>* stop) {
  using encoded = std::vector<std::shared_ptr<kv_chunk>>;
  const std::scoped_lock one_call(state_->calls);
  const std::int64_t base = prefix ? prefix->shape().n_tokens : 0;
  if (prefix && (prefix->base() != 0 || prefix->shape() != shape_of(base)))
    return fail(errc::internal, "a prefix of another shape was given");
  for (const auto ids : chunks) {
    if (auto ok = check_ids(ids, state_->config.vocab_size); !ok)
      return pass_on(ok);
    if (base + std::ssize(ids) > state_->config.context_length)
      return fail(errc::bad_input,
                  "a chunk of " + std::to_string(ids.size())
                      + " tokens does not fit the model's context of "
                      + std::to_string(state_->config.context_length));
  }
  std::vector<placed_chunk> front;
  if (base > 0) front.push_back({prefix, 0});
  return guarded<encoded>([&]() -> result<encoded> {
    encoded out;
    const auto most = state_->options.prefill_rows;
    for (std::size_t first = 0; first < chunks.size();) {
      // As many whole chunks as a block has rows, or one longer chunk by
      // itself, block by block.
      std::size_t last = first + 1;
      auto rows = std::ssize(chunks[first]);
      while (last < chunks.size() && rows + std::ssize(chunks[last]) <= most)
        rows += std::ssize(chunks[last++]);
      std::vector<sequence> own;
      for (auto c = first; c < last; ++c) {
        auto made = start_behind(front, base, std::ssize(chunks[c]));
        if (!made) return pass_on(made);
        own.push_back(std::move(*made));
      }
      for (std::int64_t from = 0; from < rows; from += most) {
        std::vector<token_id> ids;
        std::vector<row_span> spans;
        for (auto c = first; c < last; ++c) {
          const auto n = std::min(std::ssize(chunks[c]) - from, most);
          if (n <= 0) continue;
          spans.push_back({&own[c - first].state_->kv, std::ssize(ids), n});
          const auto part = chunks[c].subspan(static_cast<std::size_t>(from),
                                              static_cast<std::size_t>(n));
          ids.insert(ids.end(), part.begin(), part.end());
        }
        if (!state_->run(pass_kind::prefill, ids, spans, 0, stop))
          return fail(errc::cancelled, "the encoding of chunks was stopped");
        for (const auto& span : spans)
          span.kv->tail().set_length(span.kv->tail().length() + span.n_rows);
      }
      for (auto c = first; c < last; ++c) {
        auto made = kv_chunk::make(shape_of(std::ssize(chunks[c])), base,
                                   {chunks[c].begin(), chunks[c].end()},
                                   own[c - first].state_->kv.tail().release());
        if (!made) return pass_on(made);
        out.push_back(std::move(*made));
      }
      first = last;
    }
    return out;
  });
}

result<full_comparison> model_runner::compare(const prefill_plan& plan,
                                              sequence& one,
                                              std::span<const float> logits,
                                              std::int64_t n_tokens,
                                              const std::atomic<bool>* stop) {
  if (auto ok = check_usable(one); !ok) return pass_on(ok);
  const auto& config = state_->config;
  const auto prompt = one.length();
  n_tokens = std::min(
      {n_tokens, one.capacity() - prompt + 1, config.context_length - prompt});
  auto full = prefill(without_kv(plan),
                      prompt + std::max<std::int64_t>(n_tokens, 1), stop);
  if (!full) return pass_on(full);
  full_comparison out;
  out.kl = divergence(full->outcome.logits, logits);
  const auto n_context = context_size(plan);
  for (std::int64_t l = 0; l < config.n_layers; ++l) {
    const auto a = read_dense(full->kv.state_->kv, l, 0, n_context,
                              config.n_kv_heads, config.head_dim, state_->turn);
    const auto b = read_dense(one.state_->kv, l, 0, n_context,
                              config.n_kv_heads, config.head_dim, state_->turn);
    const auto ratio = [](double above, double below) {
      return below > 0 ? std::sqrt(above / below) : 0;
    };
    out.layers.push_back({ratio(squared_difference(a.k, b.k), squared(a.k)),
                          ratio(squared_difference(a.v, b.v), squared(a.v))});
  }
  // Both read full prefill's own greedy answer.
  std::vector<float> theirs = full->outcome.logits;
  std::vector<float> ours(logits.begin(), logits.end());
  bool agree = true;
  double sum = 0;
  for (std::int64_t t = 0; t < n_tokens; ++t) {
    const token_id id = likeliest(theirs);
    agree = agree && likeliest(ours) == id;
    if (agree) ++out.agreement;
    sum += log_softmax(theirs)[static_cast<std::size_t>(id)]
           - log_softmax(ours)[static_cast<std::size_t>(id)];
    ++out.n_tokens;
    if (std::find(config.eos.begin(), config.eos.end(), id) != config.eos.end()
        || t + 1 == n_tokens)
      break;
    sequence* const both[] = {&full->kv, &one};
    const token_id ids[] = {id, id};
    auto next = step(both, ids);
    if (!next) return pass_on(next);
    const auto vocab = static_cast<std::size_t>(config.vocab_size);
    theirs.assign(next->begin(), next->begin() + config.vocab_size);
    ours.assign(next->begin() + config.vocab_size, next->begin() + 2 * vocab);
  }
  if (out.n_tokens > 0) out.delta_nll = sum / static_cast<double>(out.n_tokens);
  auto& tail = one.state_->kv.tail();
  tail.set_length(prompt - tail.first_position());
  return out;
}

} // namespace kvloom::engine
