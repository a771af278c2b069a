#include "engine/files/checkpoint.hpp"

#include "core/base/sha256.hpp"
#include "engine/files/formats.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace kvloom::engine {

namespace {

/// Feeds values to the digest in one fixed spelling.
class fingerprint {
public:
  void add(std::string_view name, std::int64_t value) {
    text(std::string(name) + "=" + std::to_string(value) + "\n");
  }

  /// By bits: equal numbers and only these give equal digests.
  void add(std::string_view name, double value) {
    add(name, std::bit_cast<std::int64_t>(value));
  }

  void add(std::string_view name, const std::optional<double>& value) {
    if (value) add(name, *value);
  }

  void add(std::string_view name, const weight_view& weight) {
    if (!weight.present()) return;
    std::string line = std::string(name) + ":" + to_string(weight.type) + "[";
    for (const auto axis : weight.shape) line += std::to_string(axis) + ",";
    text(line + "]\n");
    hash_.add(std::span(weight.bytes, weight.n_bytes));
  }

  void text(std::string_view line) { hash_.add(line); }
  std::string hex() { return hash_.hex(); }

private:
  sha256 hash_;
};

void add_config(fingerprint& into, const model_config& config) {
  into.add("layers", config.n_layers);
  into.add("hidden", config.hidden_size);
  into.add("q_heads", config.n_q_heads);
  into.add("kv_heads", config.n_kv_heads);
  into.add("head_dim", config.head_dim);
  into.add("intermediate", config.intermediate_size);
  into.add("vocab", config.vocab_size);
  into.add("eps", config.rms_norm_eps);
  into.add("tied", std::int64_t{config.tied_head});
  into.add("qk_norm", std::int64_t{config.qk_norm});
  for (const auto window : config.window) into.add("window", window);

  using scheme = rope_config::scheme;
  const rope_config& rope = config.rope;
  into.add("rope", static_cast<std::int64_t>(rope.kind));
  into.add("theta", rope.theta);
  for (const float divisor : rope.freq_divisors)
    into.add("divisor", static_cast<double>(divisor));
  if (rope.kind == scheme::plain) return;
  into.add("factor", rope.factor);
  if (rope.kind == scheme::linear) return;
  into.add("original_context", rope.original_context);
  if (rope.kind == scheme::llama3) {
    into.add("low_freq", rope.low_freq_factor);
    into.add("high_freq", rope.high_freq_factor);
    return;
  }
  into.add("beta_fast", rope.beta_fast);
  into.add("beta_slow", rope.beta_slow);
  into.add("truncate", std::int64_t{rope.truncate});
  into.add("attention_factor", rope.attention_factor);
  into.add("mscale", rope.mscale);
  into.add("mscale_all_dim", rope.mscale_all_dim);
}

} // namespace

result<std::shared_ptr<const checkpoint>>
open_checkpoint(const std::filesystem::path& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    return fail(errc::environment,
                "there is no such model; a GGUF file or a Hugging Face folder "
                "was wanted",
                path.string());
  try {
    if (std::filesystem::is_directory(status)) return open_hf_folder(path);
    return open_gguf(path);
  } catch (const std::bad_alloc&) {
    return fail(errc::environment,
                "there is not enough memory to open the model", path.string());
  }
}

std::string digest(const checkpoint& model) {
  fingerprint into;
  into.text("kvloom checkpoint 1\n");
  add_config(into, model.config);
  into.add("embedding", model.embedding);
  into.add("final_norm", model.final_norm);
  if (!model.config.tied_head) into.add("head", model.head);
  for (const layer_weights& layer : model.layers) {
    into.text("layer\n");
    into.add("attention_norm", layer.attention_norm);
    into.add("q", layer.q);
    into.add("k", layer.k);
    into.add("v", layer.v);
    into.add("q_bias", layer.q_bias);
    into.add("k_bias", layer.k_bias);
    into.add("v_bias", layer.v_bias);
    into.add("q_norm", layer.q_norm);
    into.add("k_norm", layer.k_norm);
    into.add("o", layer.o);
    into.add("o_bias", layer.o_bias);
    into.add("mlp_norm", layer.mlp_norm);
    into.add("gate", layer.gate);
    into.add("up", layer.up);
    into.add("down", layer.down);
    into.add("gate_bias", layer.gate_bias);
    into.add("up_bias", layer.up_bias);
    into.add("down_bias", layer.down_bias);
  }
  return into.hex();
}

} // namespace kvloom::engine
