#include "engine/files/hf_config.hpp"

#include "engine/files/hf_fields.hpp"
#include "engine/files/hf_rope.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace kvloom::engine {

namespace {

struct family_entry {
  std::string_view type;
  std::string_view class_prefix;
  model_family family;
};

constexpr std::array families{
    family_entry{"llama", "Llama", model_family::llama},
    family_entry{"mistral", "Mistral", model_family::mistral},
    family_entry{"qwen2", "Qwen2", model_family::qwen2},
    family_entry{"qwen3", "Qwen3", model_family::qwen3},
};

/// Keys that this reader and the rotary reader honour.
constexpr auto honoured = std::to_array<std::string_view>({
    "model_type",
    "architectures",
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_act",
    "max_position_embeddings",
    "rms_norm_eps",
    "tie_word_embeddings",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "partial_rotary_factor",
    "original_max_position_embeddings",
    "attention_bias",
    "mlp_bias",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "layer_types",
    "bos_token_id",
    "eos_token_id",
    "quantization_config",
    "pretraining_tp",
    "auto_map",
});

/// Keys that change nothing in inference.
constexpr auto harmless = std::to_array<std::string_view>({
    "_name_or_path",
    "name_or_path",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "attn_implementation",
    "attention_dropout",
    "hidden_dropout",
    "embd_pdrop",
    "resid_pdrop",
    "initializer_range",
    "use_cache",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "pad_token_id",
    "unk_token_id",
    "sep_token_id",
    "cls_token_id",
    "is_decoder",
    "is_encoder_decoder",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "torchscript",
    "use_bfloat16",
    "task_specific_params",
    "problem_type",
    "id2label",
    "label2id",
    "num_labels",
    "finetuning_task",
    "prefix",
    "tokenizer_class",
    "gradient_checkpointing",
    "max_length",
    "min_length",
    "do_sample",
    "early_stopping",
    "num_beams",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "repetition_penalty",
    "max_sequence_length",
    "is_llama_config",
    "transformers.js_config",
    "unsloth_fixed",
    "unsloth_version",
    "license",
    "max_new_tokens",
    "chunk_size_feed_forward",
    "model_name",
    "bos_token",
    "eos_token",
});

/// Keys of other architectures that change the arithmetic, with the value
/// that means "off" besides null, false and 0.
constexpr auto refused_keys = std::to_array<std::string_view>({
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "logit_softcapping",
    "attention_softcapping",
    "attn_logit_softcap",
    "final_logit_softcap",
    "query_pre_attn_scalar",
    "attention_multiplier",
    "attention_scale",
    "embedding_multiplier",
    "residual_multiplier",
    "logits_scaling",
    "logit_scale",
    "scale_emb",
    "scale_depth",
    "dim_model_base",
    "mup",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "moe_intermediate_size",
    "clip_qkv",
    "use_qk_norm",
    "use_mrope",
    "qk_layernorm",
    "alibi",
    "parallel_attn",
    "use_parallel_residual",
    "rotary_pct",
    "rotary_dim",
    "no_rope_layers",
    "no_rope_layer_interval",
    "attn_temperature_tuning",
    "attention_chunk_size",
    "rope_interleaved",
    "rms_norm_type",
    "kv_lora_rank",
    "q_lora_rank",
    "num_nextn_predict_layers",
    "sandwich_norm",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "norm_type",
    "use_cla",
    "num_kv_shared_layers",
    "dual_chunk_attention_config",
    "block_configs",
    "vision_config",
    "text_config",
    "audio_config",
});

template <class List>
bool contains(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

bool is_off(const json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>()))
    return true;
  if (value.is_number()) return value.get<double>() == 0;
  return (value.is_array() || value.is_object()) && value.empty();
}

/// Scales for which 1 means "off".
bool is_unit_scale(std::string_view key, const json& value) {
  return value.is_number() && value.get<double>() == 1
         && (key.find("scal") != key.npos || key.ends_with("multiplier")
             || key.ends_with("_pct"));
}

void check_keys(hf_fields& fields, const json& text,
                std::vector<std::string>& notes) {
  for (const auto& [key, value] : text.items()) {
    if (contains(honoured, key) || contains(harmless, key)) continue;
    if (contains(refused_keys, key)) {
      if (!is_off(value) && !is_unit_scale(key, value))
        fields.refuse("the key " + in_quotes(key) + " is "
                      + in_quotes(value.dump(-1, ' ', false,
                                             json::error_handler_t::replace))
                      + "; it changes the arithmetic and is not supported");
    } else if (!value.is_null()) {
      notes.push_back("unknown key " + in_quotes(key)
                      + " in config.json, ignored");
    }
  }
}

model_family read_family(hf_fields& fields) {
  const auto type = fields.text("model_type");
  if (!type) {
    fields.missing("model_type");
    return model_family::llama;
  }
  const auto* const found
      = std::find_if(families.begin(), families.end(),
                     [&](const auto& entry) { return entry.type == *type; });
  if (found == families.end()) {
    fields.refuse("the model_type is " + in_quotes(*type)
                  + "; llama (with SmolLM2), mistral, qwen2 and qwen3 are "
                    "supported");
    return model_family::llama;
  }
  const std::string prefix(found->class_prefix);
  if (const json* classes = fields.find("architectures")) {
    if (!classes->is_array() || classes->size() != 1
        || ((*classes)[0] != prefix + "ForCausalLM"
            && (*classes)[0] != prefix + "Model"))
      fields.refuse("the architectures are "
                    + in_quotes(classes->dump(-1, ' ', false,
                                              json::error_handler_t::replace))
                    + "; [\"" + prefix + "ForCausalLM\"] was wanted");
  }
  return found->family;
}

void read_sizes(hf_fields& fields, model_config& config,
                std::vector<std::string>& notes) {
  config.n_layers = fields.required_integer("num_hidden_layers");
  config.hidden_size = fields.required_integer("hidden_size");
  config.n_q_heads = fields.required_integer("num_attention_heads");
  config.n_kv_heads
      = fields.integer("num_key_value_heads").value_or(config.n_q_heads);
  config.intermediate_size = fields.required_integer("intermediate_size");
  config.vocab_size = fields.required_integer("vocab_size");
  config.context_length = fields.required_integer("max_position_embeddings");
  config.rms_norm_eps = fields.required_number("rms_norm_eps");
  if (fields.ok() && config.vocab_size <= 0)
    fields.refuse("the key \"vocab_size\" is "
                  + std::to_string(config.vocab_size)
                  + "; a positive number was wanted");
  if (const auto head_dim = fields.integer("head_dim")) {
    config.head_dim = *head_dim;
  } else if (config.family == model_family::qwen3) {
    config.head_dim = 128;
    notes.push_back("no head_dim; 128, the default of qwen3");
  } else if (fields.ok() && config.n_q_heads > 0) {
    if (config.hidden_size % config.n_q_heads != 0)
      fields.refuse("hidden_size " + std::to_string(config.hidden_size)
                    + " is no multiple of num_attention_heads "
                    + std::to_string(config.n_q_heads)
                    + " and head_dim is absent");
    config.head_dim = config.hidden_size / config.n_q_heads;
  }
}

/// The declared type of every layer; empty where the file has no list.
std::vector<bool> read_sliding_layers(hf_fields& fields,
                                      const model_config& config) {
  std::vector<bool> sliding;
  const json* types = fields.find("layer_types");
  if (types == nullptr) return sliding;
  if (!types->is_array()
      || types->size() != static_cast<std::size_t>(config.n_layers)) {
    fields.refuse("\"layer_types\" must be a list of num_hidden_layers = "
                  + std::to_string(config.n_layers) + " names");
    return sliding;
  }
  for (const json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      fields.refuse(
          "\"layer_types\" holds "
          + in_quotes(type.dump(-1, ' ', false, json::error_handler_t::replace))
          + "; full_attention and sliding_attention are supported");
      return sliding;
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

void read_window(hf_fields& fields, model_config& config,
                 std::vector<std::string>& notes) {
  const std::int64_t window = fields.integer("sliding_window").value_or(0);
  if (window < 0 || window > largest_size)
    fields.refuse("\"sliding_window\" is " + std::to_string(window)
                  + "; null, 0 (full attention) or a positive number of "
                    "tokens was wanted");
  if (!fields.ok()) return;
  const auto sliding = read_sliding_layers(fields, config);
  const auto n_layers = static_cast<std::size_t>(config.n_layers);
  const auto n_sliding = static_cast<std::size_t>(
      std::count(sliding.begin(), sliding.end(), true));
  config.window.assign(n_layers, 0);

  switch (config.family) {
  case model_family::llama:
    // The reference has no window in this family.
    if (n_sliding != 0)
      fields.refuse("\"layer_types\" of a llama model holds "
                    "sliding_attention, which the family has not");
    if (window != 0)
      notes.push_back("sliding_window is ignored, as transformers does for "
                      "the family llama");
    return;
  case model_family::mistral:
    if (!sliding.empty() && n_sliding != (window != 0 ? n_layers : 0)) {
      fields.refuse("\"layer_types\" and \"sliding_window\" contradict each "
                    "other: a mistral model has one window for all layers");
      return;
    }
    config.window.assign(n_layers, window);
    if (!fields.has("sliding_window"))
      notes.push_back("no sliding_window; full attention");
    return;
  case model_family::qwen2:
  case model_family::qwen3:
    break;
  }
  if (!fields.boolean("use_sliding_window").value_or(false)) {
    if (n_sliding != 0)
      fields.refuse("\"layer_types\" holds sliding_attention but "
                    "use_sliding_window is not true");
    return;
  }
  if (window == 0) {
    if (n_sliding != 0)
      fields.refuse("\"layer_types\" holds sliding_attention but there is no "
                    "sliding_window");
    return;
  }
  const std::int64_t first_sliding
      = sliding.empty() ? fields.required_integer("max_window_layers") : 0;
  for (std::size_t i = 0; i < n_layers; ++i) {
    const bool slides = sliding.empty()
                            ? static_cast<std::int64_t>(i) >= first_sliding
                            : sliding[i];
    config.window[i] = slides ? window : 0;
  }
}

void read_biases(hf_fields& fields, hf_config& read) {
  const bool attention = fields.boolean("attention_bias").value_or(false);
  const bool mlp = fields.boolean("mlp_bias").value_or(false);
  switch (read.config.family) {
  case model_family::llama:
    read.biases = {attention, attention, mlp};
    break;
  case model_family::mistral:
    read.biases = {};
    break;
  case model_family::qwen2:
    read.biases = {true, false, false};
    break;
  case model_family::qwen3:
    read.biases = {attention, attention, false};
  }
}

void read_fixed(hf_fields& fields, std::vector<std::string>& notes) {
  if (const auto act = fields.text("hidden_act");
      act && *act != "silu" && *act != "swish")
    fields.refuse("\"hidden_act\" is " + in_quotes(*act)
                  + "; only silu is supported");
  if (fields.find("quantization_config") != nullptr)
    fields.refuse("\"quantization_config\" is present; quantised safetensors "
                  "are not supported: use the unquantised model or a GGUF "
                  "file");
  if (const auto parts = fields.integer("pretraining_tp"); parts && *parts != 1)
    notes.push_back("pretraining_tp is ignored: it only changes the order of "
                    "sums");
  if (fields.find("auto_map") != nullptr)
    notes.push_back("auto_map names custom code; the standard arithmetic of "
                    "the family is used");
}

} // namespace

result<std::optional<std::vector<token_id>>>
read_eos(const json& text, const std::string& place) {
  std::optional<std::vector<token_id>> ids;
  const auto found = text.find("eos_token_id");
  if (found == text.end() || found->is_null()) return ids;
  const json list = found->is_array() ? *found : json::array({*found});
  ids.emplace();
  for (const json& id : list) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0
        || id.get<std::int64_t>() >= largest_size)
      return fail(errc::bad_input,
                  "the key \"eos_token_id\" holds "
                      + in_quotes(id.dump(-1, ' ', false,
                                          json::error_handler_t::replace))
                      + "; token ids were wanted",
                  place);
    ids->push_back(static_cast<token_id>(id.get<std::int64_t>()));
  }
  return ids;
}

result<hf_config> read_hf_config(const json& text, const std::string& place) {
  hf_config read;
  hf_fields fields(text, place);
  model_config& config = read.config;
  config.family = read_family(fields);
  if (!fields.ok()) return fields.fault();
  config.qk_norm = config.family == model_family::qwen3;
  read_fixed(fields, read.notes);
  read_sizes(fields, config, read.notes);
  if (!fields.ok()) return fields.fault();
  auto rope = read_hf_rope(text, config.context_length, place, read.notes);
  if (!rope) return pass_on(rope);
  config.rope = std::move(*rope);
  if (auto checked = check_config(config, place); !checked)
    return pass_on(checked);

  read_window(fields, config, read.notes);
  read_biases(fields, read);
  read.tied = fields.boolean("tie_word_embeddings").value_or(false);
  check_keys(fields, text, read.notes);
  if (const auto bos = fields.integer("bos_token_id")) {
    if (*bos < 0 || *bos >= largest_size)
      fields.refuse("\"bos_token_id\" is " + std::to_string(*bos)
                    + "; a token id or null was wanted");
    else
      config.bos = static_cast<token_id>(*bos);
  }
  if (!fields.ok()) return fields.fault();
  auto eos = read_eos(text, place);
  if (!eos) return pass_on(eos);
  config.eos = eos->value_or(std::vector<token_id>{});
  return read;
}

} // namespace kvloom::engine
