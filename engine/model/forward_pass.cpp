#include "engine/model/forward_pass.hpp"

#include "kernels/api/elementwise.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

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

void forward_pass::embed(std::span<const token_id> ids,
                         std::span<const row_span> spans) {
  for (std::size_t r = 0; r < ids.size(); ++r)
    weights_.embedding.row(
        ids[r], x_.data() + r * static_cast<std::size_t>(config_.hidden_size));
  for (const row_span& span : spans)
    for (std::int64_t r = 0; r < span.n_rows; ++r)
      positions_[static_cast<std::size_t>(span.first_row + r)]
          = span.tail->length() + r;
}

void forward_pass::project_qkv(const layer_matrices& m, const layer_vectors& v,
                               std::int64_t n_rows, product how) {
  const auto eps = static_cast<float>(config_.rms_norm_eps);
  m.qkv.multiply(how, n_rows, h_.data(), qkv_.data(), stacked_);
  add_bias(v.qkv_bias, n_rows, qkv_.data());
  norm_heads(n_rows, config_.n_q_heads, config_.head_dim, qkv_.data(),
             qkv_width_, v.q_norm, eps);
  norm_heads(n_rows, config_.n_kv_heads, config_.head_dim,
             qkv_.data() + q_width_, qkv_width_, v.k_norm, eps);
  // q and k lie side by side, so one call turns both.
  kernels::rotate(n_rows, config_.n_q_heads + config_.n_kv_heads,
                  config_.head_dim, qkv_.data(), qkv_width_, positions_.data(),
                  turn_.inverse_frequencies, turn_.magnitude);
}

void forward_pass::write_kv(std::int64_t layer,
                            std::span<const row_span> spans) {
  for (const row_span& span : spans) {
    const float* k = qkv_.data() + span.first_row * qkv_width_ + q_width_;
    span.tail->write(layer, span.tail->length(), span.n_rows, k, k + kv_width_,
                     qkv_width_);
  }
}

void forward_pass::attend_rows(std::int64_t layer, const row_span& span,
                               std::int64_t n_rows, std::int64_t to_row,
                               segment_scratch& scratch) {
  const std::int64_t last = span.tail->length() + span.n_rows;
  const std::int64_t row = span.first_row + span.n_rows - n_rows;
  kernels::attention_params rows;
  rows.n_rows = n_rows;
  rows.n_q_heads = config_.n_q_heads;
  rows.n_kv_heads = config_.n_kv_heads;
  rows.head_dim = config_.head_dim;
  rows.q = qkv_.data() + row * qkv_width_;
  rows.q_row_stride = qkv_width_;
  rows.row_positions = positions_.data() + row;
  rows.scale = scale_;
  rows.window = config_.window[static_cast<std::size_t>(layer)];
  rows.o = o_.data() + to_row * q_width_;
  rows.lse = lse_.data() + to_row * config_.n_q_heads;
  // Keys that left the window of even the first row are not looked at.
  const std::int64_t first
      = rows.window == 0 ? 0
                         : std::max<std::int64_t>(0, rows.row_positions[0]
                                                         - rows.window + 1);
  const placed_segment tail{span.tail->view(layer, first, last), 0};
  attend_segments(rows, {&tail, 1}, turn_, scratch);
}

void forward_pass::attention(std::int64_t layer,
                             std::span<const row_span> spans,
                             std::int64_t n_rows) {
  if (scratch_.size() < spans.size()) scratch_.resize(spans.size());
  if (spans.size() == 1)
    return attend_rows(layer, spans[0], n_rows, 0, scratch_[0]);
  tbb::parallel_for(std::size_t{0}, spans.size(), [&](std::size_t i) {
    attend_rows(layer, spans[i], spans[i].n_rows, spans[i].first_row,
                scratch_[i]);
  });
}

void forward_pass::mlp(const layer_matrices& m, const layer_vectors& v,
                       std::int64_t n_rows, product how) {
  const std::int64_t width = config_.intermediate_size;
  m.gate_up.multiply(how, n_rows, h_.data(), gate_up_.data(), stacked_);
  add_bias(v.gate_up_bias, n_rows, gate_up_.data());
  kernels::swiglu(n_rows, width, gate_up_.data(), gate_up_.data() + width,
                  2 * width, act_.data());
  m.down.multiply(how, n_rows, act_.data(), delta_.data(), stacked_);
  add_bias(v.down_bias, n_rows, delta_.data());
}

bool forward_pass::run(pass_kind kind, std::span<const token_id> ids,
                       std::span<const row_span> spans, std::int64_t n_wanted,
                       const std::atomic<bool>* stop) {
  const bool decode = kind == pass_kind::decode;
  const auto& matrices
      = decode && !weights_.decode.empty() ? weights_.decode : weights_.prefill;
  const auto eps = static_cast<float>(config_.rms_norm_eps);
  const std::int64_t hidden = config_.hidden_size;
  auto n_rows = static_cast<std::int64_t>(ids.size());
  reserve(n_rows);
  embed(ids, spans);
  kernels::rms_norm(n_rows, hidden, x_.data(), hidden,
                    weights_.vectors[0].attention_norm.data(), eps, h_.data(),
                    hidden);
  for (std::int64_t l = 0; l < config_.n_layers; ++l) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    const auto at = static_cast<std::size_t>(l);
    const layer_vectors& v = weights_.vectors[at];
    const layer_matrices& m = matrices[at];
    const bool last = l + 1 == config_.n_layers;
    project_qkv(m, v, n_rows, choose(kind, n_rows));
    write_kv(l, spans);
    if (last && n_wanted < n_rows) {
      // Behind the last KV only rows whose logits are wanted go on.
      if (n_wanted == 0) break;
      std::copy_n(x_.data() + (n_rows - n_wanted) * hidden, n_wanted * hidden,
                  x_.data());
      n_rows = n_wanted;
    }
    const product how = choose(kind, n_rows);
    attention(l, spans, n_rows);
    m.o.multiply(how, n_rows, o_.data(), delta_.data(), stacked_);
    add_bias(v.o_bias, n_rows, delta_.data());
    kernels::add_rms_norm(n_rows, hidden, x_.data(), delta_.data(),
                          v.mlp_norm.data(), eps, h_.data());
    mlp(m, v, n_rows, how);
    const auto& next_norm
        = last ? weights_.final_norm : weights_.vectors[at + 1].attention_norm;
    kernels::add_rms_norm(n_rows, hidden, x_.data(), delta_.data(),
                          next_norm.data(), eps, h_.data());
  }
  logits_.resize(static_cast<std::size_t>(n_wanted * config_.vocab_size));
  if (n_wanted == 0) return true;
  const projection& head = decode && weights_.decode_head
                               ? *weights_.decode_head
                               : weights_.prefill_head();
  head.multiply(choose(kind, n_wanted), n_wanted, h_.data(), logits_.data(),
                stacked_);
  return true;
}

} // namespace kvloom::engine
