#include "engine/files/file_kind.hpp"
#include "engine/files/formats.hpp"
#include "engine/files/weight_table.hpp"

#include <cmath>
#include <cstring>
#include <utility>

namespace kvloom::engine {

namespace {

layer_names names_of_layer(std::int64_t layer) {
  const std::string at = "blk." + std::to_string(layer) + ".";
  layer_names name;
  name.attention_norm = at + "attn_norm.weight";
  name.q = at + "attn_q.weight";
  name.k = at + "attn_k.weight";
  name.v = at + "attn_v.weight";
  name.q_bias = at + "attn_q.bias";
  name.k_bias = at + "attn_k.bias";
  name.v_bias = at + "attn_v.bias";
  name.q_norm = at + "attn_q_norm.weight";
  name.k_norm = at + "attn_k_norm.weight";
  name.o = at + "attn_output.weight";
  name.o_bias = at + "attn_output.bias";
  name.mlp_norm = at + "ffn_norm.weight";
  name.gate = at + "ffn_gate.weight";
  name.up = at + "ffn_up.weight";
  name.down = at + "ffn_down.weight";
  name.gate_bias = at + "ffn_gate.bias";
  name.up_bias = at + "ffn_up.bias";
  name.down_bias = at + "ffn_down.bias";
  return name;
}

/// Files that hold something else than a whole model.
result<void> refuse_parts(const gguf_file& file) {
  auto type = file.text("general.type");
  if (!type) return pass_on(type);
  if (*type && **type != "model")
    return fail(errc::bad_input,
                "holds " + in_quotes(**type)
                    + " (general.type), a model was "
                      "wanted",
                file.place());
  auto parts = file.integer("split.count");
  if (!parts) return pass_on(parts);
  if (parts->value_or(1) > 1)
    return fail(errc::bad_input,
                "is one of " + std::to_string(**parts)
                    + " parts of a model; merge them into one GGUF file "
                      "(llama-gguf-split --merge)",
                file.place());
  return {};
}

/// `rope_freqs.weight`: divisors of the frequencies (Llama 3.1 and later).
result<void> read_divisors(weight_table& table, assembly& parts) {
  const std::string name = "rope_freqs.weight";
  if (!table.has(name)) return {};
  auto view = table.take(name, {parts.config.head_dim / 2}, parts.storage);
  if (!view) return pass_on(view);
  if (view->type != dtype::f32)
    return fail(errc::bad_input, "the tensor " + in_quotes(name) + " is "
                                     + to_string(view->type)
                                     + ", f32 was wanted");
  auto& divisors = parts.config.rope.freq_divisors;
  divisors.resize(static_cast<std::size_t>(view->columns()));
  std::memcpy(divisors.data(), view->bytes, view->n_bytes);
  for (const float divisor : divisors)
    if (!(divisor > 0) || !std::isfinite(divisor))
      return fail(errc::environment,
                  "the tensor " + in_quotes(name) + " holds "
                      + std::to_string(divisor)
                      + ", positive numbers were wanted; the file is damaged");
  return {};
}

void drop_buffers(weight_table& table, std::vector<std::string>& notes) {
  std::size_t n_dropped = 0;
  for (const auto& name : table.names())
    if (name.ends_with(".attn_rot_embd") || name.ends_with(".rope_freqs")
        || name.ends_with(".attn_rot_embd.weight")) {
      table.drop(name);
      ++n_dropped;
    }
  if (n_dropped != 0)
    notes.push_back(std::to_string(n_dropped)
                    + " rotary buffers of layers are not used");
}

} // namespace

result<std::shared_ptr<const checkpoint>>
open_gguf(const std::filesystem::path& path) {
  auto map = file_map::open(path);
  if (!map) return pass_on(map);
  auto file = gguf_file::read(*map);
  if (!file) return pass_on(file);
  if (auto whole = refuse_parts(*file); !whole) return pass_on(whole);

  assembly parts;
  auto config = read_gguf_config(*file, parts.notes);
  if (!config) return pass_on(config);
  parts.path = path;
  parts.config = std::move(*config);
  // Qwen files have their biases or are damaged.
  parts.biases.qkv = parts.config.family == model_family::qwen2;
  parts.embedding = "token_embd.weight";
  parts.final_norm = "output_norm.weight";
  parts.head = "output.weight";
  parts.layer = names_of_layer;
  // Converters store q and k of these two for rotation of neighbours.
  parts.interleaved_pairs = parts.config.family == model_family::llama
                            || parts.config.family == model_family::mistral;
  parts.storage.maps.push_back(*map);

  weight_table table;
  for (auto& [name, tensor] : file->tensors())
    if (auto added = table.add(name, std::move(tensor)); !added)
      return pass_on(added);
  drop_buffers(table, parts.notes);
  if (auto read = read_divisors(table, parts); !read) {
    error what = std::move(read.error());
    if (what.place.empty()) what.place = path.string();
    return tl::unexpected<error>(std::move(what));
  }
  return assemble(std::move(parts), std::move(table));
}

} // namespace kvloom::engine
