#include "engine/model/model_weights.hpp"

#include "kernels/api/elementwise.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

namespace kvloom::engine {

namespace {

using kernels::weight_matrix;

std::vector<float> widened(const weight_view& from) {
  if (!from.present()) return {};
  std::int64_t n = 1;
  for (const std::int64_t extent : from.shape) n *= extent;
  std::vector<float> to(static_cast<std::size_t>(n));
  if (is_quantised(from.type))
    kernels::dequantise_row(from.type, from.bytes, n, to.data());
  else
    kernels::widen(n, from.type, from.bytes, to.data());
  return to;
}

/// The biases of stacked parts; absent ones are zeros, none at all is empty.
std::vector<float> stacked_bias(
    std::initializer_list<std::pair<const weight_view*, const weight_view*>>
        parts) {
  std::vector<float> all;
  bool any = false;
  for (const auto& [bias, matrix] : parts) {
    std::vector<float> one = widened(*bias);
    any = any || !one.empty();
    one.resize(static_cast<std::size_t>(matrix->rows()), 0.0F);
    all.insert(all.end(), one.begin(), one.end());
  }
  if (!any) all.clear();
  return all;
}

layer_vectors vectors_of(const layer_weights& from) {
  layer_vectors to;
  to.attention_norm = widened(from.attention_norm);
  to.mlp_norm = widened(from.mlp_norm);
  to.q_norm = widened(from.q_norm);
  to.k_norm = widened(from.k_norm);
  to.qkv_bias = stacked_bias({{&from.q_bias, &from.q},
                              {&from.k_bias, &from.k},
                              {&from.v_bias, &from.v}});
  to.o_bias = stacked_bias({{&from.o_bias, &from.o}});
  to.gate_up_bias = stacked_bias(
      {{&from.gate_bias, &from.gate}, {&from.up_bias, &from.up}});
  to.down_bias = stacked_bias({{&from.down_bias, &from.down}});
  return to;
}

result<layer_matrices> matrices_of(const layer_weights& from,
                                   weight_matrix::form plain,
                                   bool keep_quantised) {
  auto qkv
      = projection::make({&from.q, &from.k, &from.v}, plain, keep_quantised);
  if (!qkv) return pass_on(qkv);
  auto o = projection::make({&from.o}, plain, keep_quantised);
  if (!o) return pass_on(o);
  auto gate_up
      = projection::make({&from.gate, &from.up}, plain, keep_quantised);
  if (!gate_up) return pass_on(gate_up);
  auto down = projection::make({&from.down}, plain, keep_quantised);
  if (!down) return pass_on(down);
  return layer_matrices{std::move(*qkv), std::move(*o), std::move(*gate_up),
                        std::move(*down)};
}

bool has_quantised_layers(const checkpoint& model) {
  return std::any_of(
      model.layers.begin(), model.layers.end(), [](const layer_weights& l) {
        return is_quantised(l.q.type) || is_quantised(l.o.type)
               || is_quantised(l.gate.type) || is_quantised(l.down.type);
      });
}

std::int64_t bytes_of(const layer_vectors& v) {
  std::size_t n = 0;
  for (const auto* one :
       {&v.attention_norm, &v.mlp_norm, &v.q_norm, &v.k_norm, &v.qkv_bias,
        &v.o_bias, &v.gate_up_bias, &v.down_bias})
    n += one->size();
  return static_cast<std::int64_t>(n * sizeof(float));
}

std::int64_t bytes_of(const layer_matrices& m) {
  return m.qkv.bytes() + m.o.bytes() + m.gate_up.bytes() + m.down.bytes();
}

result<model_weights> convert(const checkpoint& model, precision compute,
                              decode_weights decode) {
  const bool quantised = decode == decode_weights::quantised;
  if (quantised && !has_quantised_layers(model))
    return fail(errc::bad_input,
                "decode weights `quantised` were asked of a checkpoint whose "
                "layers are not quantised; use `same`, or a GGUF file in "
                "Q8_0, Q4_0, Q4_1, Q4_K or Q6_K",
                model.path.string());
  const auto plain = compute == precision::f32 ? weight_matrix::form::f32
                                               : weight_matrix::form::bf16;
  model_weights made;
  for (const layer_weights& layer : model.layers) {
    made.vectors.push_back(vectors_of(layer));
    auto matrices = matrices_of(layer, plain, false);
    if (!matrices) return pass_on(matrices);
    made.prefill.push_back(std::move(*matrices));
    if (!quantised) continue;
    auto stored = matrices_of(layer, plain, true);
    if (!stored) return pass_on(stored);
    made.decode.push_back(std::move(*stored));
  }
  auto embedding = projection::make({&model.embedding}, plain, false);
  if (!embedding) return pass_on(embedding);
  made.embedding = std::move(*embedding);
  if (model.head.bytes != model.embedding.bytes) {
    auto head = projection::make({&model.head}, plain, false);
    if (!head) return pass_on(head);
    made.head = std::move(*head);
  }
  if (quantised && is_quantised(model.head.type)) {
    auto head = projection::make({&model.head}, plain, true);
    if (!head) return pass_on(head);
    made.decode_head = std::move(*head);
  }
  made.final_norm = widened(model.final_norm);
  return made;
}

} // namespace

std::int64_t model_weights::bytes() const {
  std::int64_t sum = embedding.bytes();
  sum += static_cast<std::int64_t>(final_norm.size() * sizeof(float));
  if (head) sum += head->bytes();
  if (decode_head) sum += decode_head->bytes();
  for (const layer_vectors& v : vectors) sum += bytes_of(v);
  for (const layer_matrices& m : prefill) sum += bytes_of(m);
  for (const layer_matrices& m : decode) sum += bytes_of(m);
  return sum;
}

decode_weights settled(decode_weights wanted, const checkpoint& model,
                       precision compute) {
  if (wanted != decode_weights::automatic) return wanted;
  return compute == precision::bf16 && has_quantised_layers(model)
             ? decode_weights::quantised
             : decode_weights::same;
}

result<model_weights> prepare_weights(const checkpoint& model,
                                      precision compute,
                                      decode_weights decode) {
  try {
    return convert(model, compute, decode);
  } catch (const std::bad_alloc&) {
    return fail(errc::environment,
                "the machine has not enough memory for the weights; use a "
                "smaller model, or precision bf16",
                model.path.string());
  }
}

} // namespace kvloom::engine
