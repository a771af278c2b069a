#include "engine/files/file_kind.hpp"
#include "engine/files/formats.hpp"
#include "engine/files/hf_config.hpp"
#include "engine/files/json.hpp"
#include "engine/files/safetensors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace kvloom::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* index_name = "model.safetensors.index.json";
constexpr const char* single_name = "model.safetensors";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

result<json> read_json(const fs::path& path) {
  auto map = file_map::open(path);
  if (!map) return pass_on(map);
  return parse_json_object((*map)->bytes(), path.string(),
                           path.filename().string());
}

/// Which weights lie in which file; without an index all of one file.
struct weight_files {
  std::vector<std::string> names;             ///< sorted
  std::map<std::string, std::string> file_of; ///< by tensor; empty: no index
};

result<weight_files> read_index(const fs::path& path) {
  auto text = read_json(path);
  if (!text) return pass_on(text);
  const auto wrong = [&](const std::string& reason) {
    return fail(errc::environment,
                "the index " + reason + "; download it again", path.string());
  };
  const auto map = text->find("weight_map");
  if (map == text->end() || !map->is_object() || map->empty())
    return wrong("has no \"weight_map\" of tensors to files");
  weight_files files;
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string())
      return wrong("names no file for " + in_quotes(tensor));
    const auto name = file.get<std::string>();
    // Only files of this folder: an index is somebody else's text.
    if (name.empty() || name == "." || name == ".."
        || name.find('/') != std::string::npos
        || name.find('\0') != std::string::npos)
      return wrong("names the file " + in_quotes(name)
                   + ", which is not in the folder");
    names.insert(name);
    files.file_of.emplace(tensor, name);
  }
  files.names.assign(names.begin(), names.end());
  return files;
}

/// Weights in the folder that are not opened, and why there are none.
std::vector<std::string> other_weights(const fs::path& folder,
                                       const std::vector<std::string>& used) {
  std::vector<std::string> others;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::string end = entry.path().extension().string();
    const bool weights = end == ".safetensors" || end == ".bin" || end == ".pt"
                         || end == ".pth" || end == ".gguf";
    if (weights && std::find(used.begin(), used.end(), name) == used.end())
      others.push_back(name);
  }
  std::sort(others.begin(), others.end());
  return others;
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

result<weight_files> find_weights(const fs::path& folder) {
  if (is_there(folder / index_name)) return read_index(folder / index_name);
  if (is_there(folder / single_name)) return weight_files{{single_name}, {}};
  const auto others = other_weights(folder, {});
  return fail(
      errc::environment,
      "has neither " + std::string(index_name) + " nor " + single_name
          + (others.empty()
                 ? std::string("; download the weights into it")
                 : ", but " + list_text(others)
                       + "; convert these to safetensors, or name a GGUF "
                         "file directly"),
      folder.string());
}

result<void> read_weights(const fs::path& folder, const weight_files& files,
                          weight_table& table, weight_storage& storage) {
  const bool indexed = !files.file_of.empty();
  for (const auto& name : files.names) {
    auto map = file_map::open(folder / name);
    if (!map) return pass_on(map);
    auto tensors = read_safetensors(**map);
    if (!tensors) return pass_on(tensors);
    storage.maps.push_back(*map);
    for (auto& [tensor, view] : *tensors) {
      if (indexed) {
        const auto listed = files.file_of.find(tensor);
        if (listed == files.file_of.end() || listed->second != name)
          return fail(errc::environment,
                      "the tensor " + in_quotes(tensor)
                          + (listed == files.file_of.end()
                                 ? std::string(" is not in the index")
                                 : " is in " + in_quotes(listed->second)
                                       + " according to the index")
                          + "; shards and index belong to different models",
                      (folder / name).string());
      }
      if (auto added = table.add(tensor, std::move(view)); !added) return added;
    }
  }
  for (const auto& [tensor, name] : files.file_of)
    if (!table.has(tensor))
      return fail(errc::environment,
                  "the index promises the tensor " + in_quotes(tensor) + " in "
                      + in_quotes(name)
                      + ", which does not hold it; download both again",
                  folder.string());
  return {};
}

/// Buffers that old versions of transformers saved; they follow from the
/// configuration.
void drop_buffers(weight_table& table, std::vector<std::string>& notes) {
  std::size_t n_dropped = 0;
  for (const auto& name : table.names())
    if (name.ends_with("rotary_emb.inv_freq")) {
      table.drop(name);
      ++n_dropped;
    }
  if (n_dropped != 0)
    notes.push_back(std::to_string(n_dropped)
                    + " rotary_emb.inv_freq buffers are not used; the "
                      "frequencies follow from config.json");
}

layer_names names_of_layer(const std::string& prefix, std::int64_t layer) {
  const std::string at = prefix + "layers." + std::to_string(layer) + ".";
  const std::string attention = at + "self_attn.";
  const std::string mlp = at + "mlp.";
  layer_names name;
  name.attention_norm = at + "input_layernorm.weight";
  name.q = attention + "q_proj.weight";
  name.k = attention + "k_proj.weight";
  name.v = attention + "v_proj.weight";
  name.q_bias = attention + "q_proj.bias";
  name.k_bias = attention + "k_proj.bias";
  name.v_bias = attention + "v_proj.bias";
  name.q_norm = attention + "q_norm.weight";
  name.k_norm = attention + "k_norm.weight";
  name.o = attention + "o_proj.weight";
  name.o_bias = attention + "o_proj.bias";
  name.mlp_norm = at + "post_attention_layernorm.weight";
  name.gate = mlp + "gate_proj.weight";
  name.up = mlp + "up_proj.weight";
  name.down = mlp + "down_proj.weight";
  name.gate_bias = mlp + "gate_proj.bias";
  name.up_bias = mlp + "up_proj.bias";
  name.down_bias = mlp + "down_proj.bias";
  return name;
}

/// generation_config.json decides what ends an answer, where it says so.
result<void> read_generation(const fs::path& folder, hf_config& read) {
  const fs::path path = folder / "generation_config.json";
  if (!is_there(path)) return {};
  auto text = read_json(path);
  if (!text) return pass_on(text);
  auto eos = read_eos(*text, path.string());
  if (!eos) return pass_on(eos);
  if (*eos) read.config.eos = std::move(**eos);
  return {};
}

} // namespace

result<std::shared_ptr<const checkpoint>>
open_hf_folder(const fs::path& folder) {
  const fs::path config_path = folder / "config.json";
  if (!is_there(config_path)) {
    const auto others = other_weights(folder, {});
    return fail(errc::environment,
                "has no config.json, so it is no Hugging Face model folder"
                    + (others.empty() ? std::string()
                                      : "; it holds " + list_text(others)
                                            + ": name a GGUF file directly"),
                folder.string());
  }
  auto text = read_json(config_path);
  if (!text) return pass_on(text);
  auto read = read_hf_config(*text, config_path.string());
  if (!read) return pass_on(read);
  if (auto generation = read_generation(folder, *read); !generation)
    return pass_on(generation);

  auto files = find_weights(folder);
  if (!files) return pass_on(files);
  assembly parts;
  weight_table table;
  if (auto done = read_weights(folder, *files, table, parts.storage); !done)
    return pass_on(done);
  parts.notes = std::move(read->notes);
  drop_buffers(table, parts.notes);
  if (const auto strays = other_weights(folder, files->names); !strays.empty())
    parts.notes.push_back("not opened: " + list_text(strays));

  // A base model saved alone has no "model." in front.
  const std::string prefix = table.has("embed_tokens.weight") ? "" : "model.";
  parts.path = folder;
  parts.config = std::move(read->config);
  parts.biases = read->biases;
  parts.tied_flag = read->tied;
  parts.embedding = prefix + "embed_tokens.weight";
  parts.final_norm = prefix + "norm.weight";
  parts.head = "lm_head.weight";
  parts.layer = [prefix](std::int64_t i) { return names_of_layer(prefix, i); };
  return assemble(std::move(parts), std::move(table));
}

} // namespace kvloom::engine
