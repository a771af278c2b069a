#include "engine/files/file_kind.hpp"
#include "engine/files/formats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace kvloom::engine {

namespace {

/// Keys behind the architecture's name that are honoured here or harmless.
constexpr auto known = std::to_array<std::string_view>({
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.sliding_window",
    "attention.causal",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scale_linear",
    "rope.scaling.original_context_length",
    "rope.scaling.attn_factor",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_log_multiplier",
    "rope.scaling.finetuned",
    "vocab_size",
    "tensor_data_layout",
});

/// Keys of other architectures; allowed only where they say "off".
constexpr auto refused = std::to_array<std::string_view>({
    "attention.max_alibi_bias",
    "attention.clamp_kqv",
    "attention.scale",
    "attention.layer_norm_epsilon",
    "attention.sliding_window_pattern",
    "attention.temperature_scale",
    "attention.temperature_length",
    "attention.output_scale",
    "attention.shared_kv_layers",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "logit_scale",
    "embedding_scale",
    "residual_scale",
    "use_parallel_residual",
    "expert_count",
    "expert_used_count",
    "expert_shared_count",
    "rope.scaling.alpha",
    "rope.freq_base_swa",
    "rope.dimension_sections",
    "attention.q_lora_rank",
    "attention.kv_lora_rank",
    "pooling_type",
    "nextn_predict_layers",
    "swin_norm",
    "interleave_moe_layer_step",
});

template <class List>
bool contains(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

bool is_off(std::string_view key, const gguf_value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole == 0;
  if (const auto* real = std::get_if<double>(&value))
    return *real == 0 || (*real == 1 && key.find("scale") != key.npos);
  if (const auto* truth = std::get_if<bool>(&value)) return !*truth;
  return false;
}

/// The keys of one architecture; the first fault sticks.
class arch_keys {
public:
  arch_keys(const gguf_file& file, std::string arch)
      : file_(file), prefix_(std::move(arch) + ".") {}

  std::string path(std::string_view key) const {
    return prefix_ + std::string(key);
  }

  std::optional<std::int64_t> integer(std::string_view key) {
    return take(file_.integer(path(key)));
  }

  std::optional<double> number(std::string_view key) {
    return take(file_.number(path(key)));
  }

  std::optional<std::string> text(std::string_view key) {
    return take(file_.text(path(key)));
  }

  std::optional<bool> boolean(std::string_view key) {
    return take(file_.boolean(path(key)));
  }

  /// A size that some writers give by layer; all layers must agree.
  std::optional<std::int64_t> uniform(std::string_view key) {
    const auto found = file_.values().find(path(key));
    if (found == file_.values().end()) return std::nullopt;
    if (!std::holds_alternative<gguf_array>(found->second)) return integer(key);
    auto list = file_.integers(path(key));
    if (!list) {
      keep(std::move(list.error()));
      return std::nullopt;
    }
    if (list->empty()
        || std::any_of(list->begin(), list->end(),
                       [&](auto value) { return value != list->front(); })) {
      refuse(key, "differs between layers, which is not supported");
      return std::nullopt;
    }
    return list->front();
  }

  template <class T>
  T required(std::optional<T> value, std::string_view key) {
    if (!value) refuse(key, "is missing; convert the model again");
    return value.value_or(T{});
  }

  void refuse(std::string_view key, const std::string& message) {
    keep(error{errc::bad_input,
               "the key " + in_quotes(path(key)) + " " + message,
               file_.place()});
  }

  bool ok() const { return !fault_; }
  tl::unexpected<error> fault() const { return tl::unexpected<error>(*fault_); }
  const gguf_file& file() const { return file_; }
  const std::string& prefix() const { return prefix_; }

private:
  void keep(error what) {
    if (!fault_) fault_ = std::move(what);
  }

  template <class T>
  std::optional<T> take(result<std::optional<T>> read) {
    if (read) return *read;
    keep(std::move(read.error()));
    return std::nullopt;
  }

  const gguf_file& file_;
  std::string prefix_;
  std::optional<error> fault_;
};

void read_yarn(arch_keys& keys, rope_config& rope,
               std::int64_t context_length) {
  rope.original_context = keys.integer("rope.scaling.original_context_length")
                              .value_or(context_length);
  rope.beta_fast = keys.number("rope.scaling.yarn_beta_fast").value_or(32);
  rope.beta_slow = keys.number("rope.scaling.yarn_beta_slow").value_or(1);
  if (keys.number("rope.scaling.yarn_ext_factor").value_or(1) != 1)
    keys.refuse("rope.scaling.yarn_ext_factor", "is not 1; only the full "
                                                "ramp is supported");
  if (keys.number("rope.scaling.yarn_log_multiplier").value_or(0) != 0)
    keys.refuse("rope.scaling.yarn_log_multiplier", "is not supported");
  // In this format the factors multiply the rule, they do not replace it.
  const double scale
      = keys.number("rope.scaling.attn_factor").value_or(1)
        * keys.number("rope.scaling.yarn_attn_factor").value_or(1);
  if (scale != 1)
    rope.attention_factor
        = scale * (rope.factor <= 1 ? 1 : 0.1 * std::log(rope.factor) + 1);
}

void read_rope(arch_keys& keys, model_config& config,
               std::vector<std::string>& notes) {
  using scheme = rope_config::scheme;
  rope_config& rope = config.rope;
  const auto theta = keys.number("rope.freq_base");
  if (!theta)
    notes.push_back("no rope.freq_base; 10000, the default of the format");
  rope.theta = theta.value_or(10000);
  if (const auto turned = keys.integer("rope.dimension_count");
      turned && *turned != config.head_dim)
    keys.refuse("rope.dimension_count",
                "is " + std::to_string(*turned) + ", the head size is "
                    + std::to_string(config.head_dim)
                    + "; partial rotation is not supported");

  auto factor = keys.number("rope.scaling.factor");
  if (!factor) factor = keys.number("rope.scale_linear");
  // Zero means absent.
  const double scale = factor.value_or(0) == 0 ? 1 : *factor;
  const std::string type = keys.text("rope.scaling.type").value_or("linear");
  if (type == "yarn") {
    rope.kind = scheme::yarn;
    rope.factor = scale;
    read_yarn(keys, rope, config.context_length);
  } else if (type == "linear" || type == "none") {
    if (type == "linear" && scale != 1) {
      rope.kind = scheme::linear;
      rope.factor = scale;
    }
    for (const char* key :
         {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"})
      if (keys.number(key).value_or(1) != 1)
        keys.refuse(key, "is supported with yarn only");
  } else {
    keys.refuse("rope.scaling.type",
                "is " + in_quotes(type)
                    + "; none, linear and yarn are supported (the frequencies "
                      "of longrope depend on the length of the text, so cached "
                      "keys could not be reused)");
  }
}

void read_sizes(arch_keys& keys, model_config& config) {
  config.n_layers = keys.required(keys.integer("block_count"), "block_count");
  config.context_length
      = keys.required(keys.integer("context_length"), "context_length");
  config.hidden_size
      = keys.required(keys.integer("embedding_length"), "embedding_length");
  config.intermediate_size = keys.required(keys.uniform("feed_forward_length"),
                                           "feed_forward_length");
  config.n_q_heads = keys.required(keys.uniform("attention.head_count"),
                                   "attention.head_count");
  config.n_kv_heads
      = keys.uniform("attention.head_count_kv").value_or(config.n_q_heads);
  config.rms_norm_eps
      = keys.required(keys.number("attention.layer_norm_rms_epsilon"),
                      "attention.layer_norm_rms_epsilon");
  config.vocab_size = keys.integer("vocab_size").value_or(0);

  const auto key_length = keys.integer("attention.key_length");
  const auto value_length = keys.integer("attention.value_length");
  if (key_length) {
    config.head_dim = *key_length;
  } else if (config.n_q_heads > 0) {
    config.head_dim = config.hidden_size / config.n_q_heads;
    if (keys.ok() && config.hidden_size % config.n_q_heads != 0)
      keys.refuse("embedding_length",
                  "is " + std::to_string(config.hidden_size)
                      + ", no multiple of " + std::to_string(config.n_q_heads)
                      + " heads, and attention.key_length is absent");
  }
  if (keys.ok() && value_length && *value_length != config.head_dim)
    keys.refuse("attention.value_length",
                "is " + std::to_string(*value_length) + ", keys have "
                    + std::to_string(config.head_dim)
                    + "; different sizes are not supported");
}

void check_keys(arch_keys& keys, std::vector<std::string>& notes) {
  for (const auto& [full, value] : keys.file().values()) {
    std::string_view key = full;
    if (!key.starts_with(keys.prefix())) continue;
    key.remove_prefix(keys.prefix().size());
    if (contains(known, key)) continue;
    if (!contains(refused, key))
      notes.push_back("unknown key " + in_quotes(full) + ", ignored");
    else if (!is_off(key, value))
      keys.refuse(key, "changes the arithmetic and is not supported");
  }
  if (!keys.boolean("attention.causal").value_or(true))
    keys.refuse("attention.causal", "is false; only causal models are "
                                    "supported");
  if (const auto layout = keys.text("tensor_data_layout");
      layout && *layout != "Meta AI original pth" && *layout != "reference")
    keys.refuse("tensor_data_layout",
                "is " + in_quotes(*layout) + ", an unknown layout");
}

/// Ids that end an answer: end of sequence, of turn, of message.
result<void> read_ids(const gguf_file& file, model_config& config) {
  const auto read
      = [&](std::string_view key) -> result<std::optional<token_id>> {
    auto value = file.integer(key);
    if (!value) return pass_on(value);
    if (!*value || **value == std::numeric_limits<std::uint32_t>::max()
        || **value == -1)
      return std::nullopt;
    if (**value < 0 || **value >= std::numeric_limits<token_id>::max())
      return fail(errc::environment,
                  "the key " + in_quotes(key) + " is " + std::to_string(**value)
                      + ", no token id",
                  file.place());
    return static_cast<token_id>(**value);
  };
  auto bos = read("tokenizer.ggml.bos_token_id");
  if (!bos) return pass_on(bos);
  config.bos = *bos;
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    auto id = read(key);
    if (!id) return pass_on(id);
    if (*id
        && std::find(config.eos.begin(), config.eos.end(), **id)
               == config.eos.end())
      config.eos.push_back(**id);
  }
  return {};
}

} // namespace

result<model_config> read_gguf_config(const gguf_file& file,
                                      std::vector<std::string>& notes) {
  auto arch = file.text("general.architecture");
  if (!arch) return pass_on(arch);
  if (!*arch)
    return fail(errc::environment,
                "the key \"general.architecture\" is missing; the file is no "
                "model",
                file.place());
  model_config config;
  const std::string& name = **arch;
  if (name == "llama") {
    config.family = model_family::llama;
  } else if (name == "mistral") {
    config.family = model_family::mistral;
  } else if (name == "qwen2") {
    config.family = model_family::qwen2;
  } else if (name == "qwen3") {
    config.family = model_family::qwen3;
  } else {
    return fail(errc::bad_input,
                "the architecture is " + in_quotes(name)
                    + "; llama (with SmolLM2 and Mistral), mistral, qwen2 and "
                      "qwen3 are supported",
                file.place());
  }
  arch_keys keys(file, name);
  read_sizes(keys, config);
  if (!keys.ok()) return keys.fault();
  read_rope(keys, config, notes);
  check_keys(keys, notes);
  if (!keys.ok()) return keys.fault();
  if (auto checked = check_config(config, file.place()); !checked)
    return pass_on(checked);

  const std::int64_t window
      = keys.integer("attention.sliding_window").value_or(0);
  if (window < 0 || window > largest_size)
    keys.refuse("attention.sliding_window",
                "is " + std::to_string(window)
                    + "; 0 (full attention) or a number of tokens was wanted");
  if (!keys.ok()) return keys.fault();
  config.window.assign(static_cast<std::size_t>(config.n_layers), window);
  if (window != 0 && config.family == model_family::llama)
    config.family = model_family::mistral;
  config.qk_norm = config.family == model_family::qwen3;
  if (auto ids = read_ids(file, config); !ids) return pass_on(ids);
  return config;
}

} // namespace kvloom::engine
