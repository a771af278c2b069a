#include "engine/model/forward_pass.hpp"

#include "kernels/api/elementwise.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace kvloom::engine {

namespace {

/// Up to here the row-by-row product is faster than the tiled one (measured,
/// docs/performance.md).
constexpr std::int64_t few_rows = 8;

void add_bias(const std::vector<float>& bias, std::int64_t n_rows, float* y) {
  if (bias.empty()) return;
  const auto width = static_cast<std::int64_t>(bias.size());
  for (std::int64_t r = 0; r < n_rows; ++r)
    for (std::int64_t c = 0; c < width; ++c) y[r * width + c] += bias[c];
}

/// RMSNorm over head_dim on heads that lie in rows of a wider matrix.
void norm_heads(std::int64_t n_rows, std::int64_t n_heads,
                std::int64_t head_dim, float* heads, std::int64_t row_stride,
                const std::vector<float>& weight, float eps) {
  if (weight.empty()) return;
  if (n_rows == 1) {
    kernels::rms_norm(n_heads, head_dim, heads, head_dim, weight.data(), eps,
                      heads, head_dim);
    return;
  }
  for (std::int64_t h = 0; h < n_heads; ++h) {
    float* head = heads + h * head_dim;
    kernels::rms_norm(n_rows, head_dim, head, row_stride, weight.data(), eps,
                      head, row_stride);
  }
}

product choose(pass_kind kind, std::int64_t n_rows) {
  return kind == pass_kind::decode || n_rows <= few_rows ? product::few
                                                         : product::many;
}

} // namespace

forward_pass::forward_pass(const model_config& config,
                           const model_weights& weights, const rotation& turn)
    : config_(config), weights_(weights), turn_(turn),
      q_width_(config.n_q_heads * config.head_dim),
      kv_width_(config.n_kv_heads * config.head_dim),
      qkv_width_(q_width_ + 2 * kv_width_),
      scale_(static_cast<float>(
          1.0 / std::sqrt(static_cast<double>(config.head_dim)))) {}

void forward_pass::reserve(std::int64_t n_rows) {
  const auto grow = [n_rows](auto& buffer, std::int64_t width) {
    const auto wanted = static_cast<std::size_t>(n_rows * width);
    if (buffer.size() < wanted) buffer.resize(wanted);
  };
  grow(x_, config_.hidden_size);
  grow(h_, config_.hidden_size);
  grow(delta_, config_.hidden_size);
  grow(qkv_, qkv_width_);
  grow(o_, q_width_);
  grow(lse_, config_.n_q_heads);
  grow(gate_up_, 2 * config_.intermediate_size);
  grow(act_, config_.intermediate_size);
  grow(positions_, 1);
}

const layer_matrices& forward_pass::matrices(std::int64_t layer,
                                             pass_kind kind) const {
  const auto& all = kind == pass_kind::decode && !weights_.decode.empty()
                        ? weights_.decode
                        : weights_.prefill;
  return all[static_cast<std::size_t>(layer)];
}

void forward_pass::begin(std::span<const token_id> ids,
                         std::span<const std::int64_t> positions) {
  n_rows_ = std::ssize(ids);
  reserve(n_rows_);
  const std::int64_t hidden = config_.hidden_size;
  for (std::int64_t r = 0; r < n_rows_; ++r)
    weights_.embedding.row(ids[static_cast<std::size_t>(r)],
                           x_.data() + r * hidden);
  std::copy(positions.begin(), positions.end(), positions_.begin());
  kernels::rms_norm(n_rows_, hidden, x_.data(), hidden,
                    weights_.vectors[0].attention_norm.data(),
                    static_cast<float>(config_.rms_norm_eps), h_.data(),
                    hidden);
}

void forward_pass::project(std::int64_t layer, pass_kind kind) {
  const layer_vectors& v = weights_.vectors[static_cast<std::size_t>(layer)];
  const auto eps = static_cast<float>(config_.rms_norm_eps);
  matrices(layer, kind)
      .qkv.multiply(choose(kind, n_rows_), n_rows_, h_.data(), qkv_.data(),
                    stacked_);
  add_bias(v.qkv_bias, n_rows_, qkv_.data());
  norm_heads(n_rows_, config_.n_q_heads, config_.head_dim, qkv_.data(),
             qkv_width_, v.q_norm, eps);
  norm_heads(n_rows_, config_.n_kv_heads, config_.head_dim,
             qkv_.data() + q_width_, qkv_width_, v.k_norm, eps);
  // q and k lie side by side, so one call turns both.
  kernels::rotate(n_rows_, config_.n_q_heads + config_.n_kv_heads,
                  config_.head_dim, qkv_.data(), qkv_width_, positions_.data(),
                  turn_.inverse_frequencies, turn_.magnitude);
}

fresh_kv forward_pass::kv() const {
  const float* k = qkv_.data() + q_width_;
  return {k, k + kv_width_, qkv_width_};
}

void forward_pass::keep(std::span<const std::int64_t> rows) {
  const std::int64_t hidden = config_.hidden_size;
  std::int64_t to = 0;
  for (const std::int64_t from : rows) {
    if (from != to) {
      // Rows ascend, so nothing is overwritten that is still needed.
      std::copy_n(x_.data() + from * hidden, hidden, x_.data() + to * hidden);
      std::copy_n(qkv_.data() + from * qkv_width_, qkv_width_,
                  qkv_.data() + to * qkv_width_);
      positions_[static_cast<std::size_t>(to)]
          = positions_[static_cast<std::size_t>(from)];
    }
    ++to;
  }
  n_rows_ = to;
}

kernels::attention_params forward_pass::rows_of(std::int64_t layer,
                                                std::int64_t first,
                                                std::int64_t n) const {
  kernels::attention_params rows;
  rows.n_rows = n;
  rows.n_q_heads = config_.n_q_heads;
  rows.n_kv_heads = config_.n_kv_heads;
  rows.head_dim = config_.head_dim;
  rows.q = qkv_.data() + first * qkv_width_;
  rows.q_row_stride = qkv_width_;
  rows.row_positions = positions_.data() + first;
  rows.scale = scale_;
  rows.window = config_.window[static_cast<std::size_t>(layer)];
  return rows;
}

void forward_pass::attend(std::int64_t layer, std::int64_t first,
                          std::int64_t n, const std::int64_t* seen_from,
                          std::span<const placed_segment> segments,
                          segment_scratch& scratch) {
  auto rows = rows_of(layer, first, n);
  if (seen_from != nullptr) rows.row_positions = seen_from + first;
  rows.o = o_.data() + first * q_width_;
  rows.lse = lse_.data() + first * config_.n_q_heads;
  attend_segments(rows, segments, turn_, scratch);
}

void forward_pass::add_mass(std::int64_t layer, std::int64_t first,
                            std::int64_t n, const placed_segment& segment,
                            segment_scratch& scratch, double* mass) const {
  auto rows = rows_of(layer, first, n);
  // Only read there.
  rows.lse = const_cast<float*>(lse_.data()) + first * config_.n_q_heads;
  engine::add_mass(rows, segment, turn_, scratch, mass);
}

void forward_pass::finish(std::int64_t layer, pass_kind kind) {
  const auto at = static_cast<std::size_t>(layer);
  const layer_matrices& m = matrices(layer, kind);
  const layer_vectors& v = weights_.vectors[at];
  const auto eps = static_cast<float>(config_.rms_norm_eps);
  const product how = choose(kind, n_rows_);
  m.o.multiply(how, n_rows_, o_.data(), delta_.data(), stacked_);
  add_bias(v.o_bias, n_rows_, delta_.data());
  kernels::add_rms_norm(n_rows_, config_.hidden_size, x_.data(), delta_.data(),
                        v.mlp_norm.data(), eps, h_.data());
  const std::int64_t width = config_.intermediate_size;
  m.gate_up.multiply(how, n_rows_, h_.data(), gate_up_.data(), stacked_);
  add_bias(v.gate_up_bias, n_rows_, gate_up_.data());
  kernels::swiglu(n_rows_, width, gate_up_.data(), gate_up_.data() + width,
                  2 * width, act_.data());
  m.down.multiply(how, n_rows_, act_.data(), delta_.data(), stacked_);
  add_bias(v.down_bias, n_rows_, delta_.data());
  const bool last = layer + 1 == config_.n_layers;
  const auto& next_norm
      = last ? weights_.final_norm : weights_.vectors[at + 1].attention_norm;
  kernels::add_rms_norm(n_rows_, config_.hidden_size, x_.data(), delta_.data(),
                        next_norm.data(), eps, h_.data());
}

void forward_pass::compute_logits(std::int64_t n_wanted, pass_kind kind) {
  logits_.resize(static_cast<std::size_t>(n_wanted * config_.vocab_size));
  if (n_wanted == 0) return;
  const projection& head = kind == pass_kind::decode && weights_.decode_head
                               ? *weights_.decode_head
                               : weights_.prefill_head();
  head.multiply(choose(kind, n_wanted), n_wanted,
                h_.data() + (n_rows_ - n_wanted) * config_.hidden_size,
                logits_.data(), stacked_);
}

void forward_pass::append(std::int64_t layer, std::span<const row_span> spans) {
  const auto fresh = kv();
  for (const row_span& span : spans) {
    const std::int64_t at = span.first_row * fresh.row_stride;
    auto& tail = span.kv->tail();
    tail.write(layer, tail.length(), span.n_rows, fresh.k + at, fresh.v + at,
               fresh.row_stride);
  }
}

void forward_pass::attend_tail(std::int64_t layer, const row_span& span,
                               std::int64_t skip, segment_scratch& scratch) {
  const auto& tail = span.kv->tail();
  const std::int64_t window = config_.window[static_cast<std::size_t>(layer)];
  // Keys that left the window of even the first row are not looked at.
  const std::int64_t oldest
      = window == 0 ? 0 : tail.next_position() + skip - window + 1;
  scratch.segments.clear();
  span.kv->segments(layer,
                    std::max<std::int64_t>(0, oldest - tail.first_position()),
                    tail.length() + span.n_rows, scratch.segments);
  attend(layer, span.first_row, span.n_rows - skip, nullptr, scratch.segments,
         scratch);
}

void forward_pass::attend_spans(std::int64_t layer,
                                std::span<const row_span> spans) {
  if (scratch_.size() < spans.size()) scratch_.resize(spans.size());
  if (spans.size() == 1) // some of its first rows may have left the flow
    return attend_tail(layer, spans[0], spans[0].n_rows - n_rows_, scratch_[0]);
  tbb::parallel_for(std::size_t{0}, spans.size(), [&](std::size_t i) {
    attend_tail(layer, spans[i], 0, scratch_[i]);
  });
}

bool forward_pass::run(pass_kind kind, std::span<const token_id> ids,
                       std::span<const row_span> spans, std::int64_t n_wanted,
                       const std::atomic<bool>* stop) {
  std::vector<std::int64_t> positions(ids.size());
  for (const row_span& span : spans)
    for (std::int64_t r = 0; r < span.n_rows; ++r)
      positions[static_cast<std::size_t>(span.first_row + r)]
          = span.kv->tail().next_position() + r;
  begin(ids, positions);
  for (std::int64_t l = 0; l < config_.n_layers; ++l) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    project(l, kind);
    append(l, spans);
    if (l + 1 == config_.n_layers && n_wanted < n_rows_) {
      // Behind the last KV only rows whose logits are wanted go on.
      if (n_wanted == 0) break;
      std::vector<std::int64_t> last(static_cast<std::size_t>(n_wanted));
      std::iota(last.begin(), last.end(), n_rows_ - n_wanted);
      keep(last);
    }
    attend_spans(l, spans);
    finish(l, kind);
  }
  compute_logits(n_wanted, kind);
  return true;
}

} // namespace kvloom::engine
