#include "engine/tokenizer/tokenizer_json.hpp"

#include "core/base/sha256.hpp"
#include "engine/files/file_map.hpp"
#include "engine/files/json.hpp"
#include "engine/tokenizer/bpe_model.hpp"
#include "engine/tokenizer/graph_tokenizer.hpp"
#include "engine/tokenizer/json_node.hpp"
#include "engine/tokenizer/post_processor.hpp"

#include <optional>
#include <string>
#include <utility>

namespace kvloom::engine {

namespace {

namespace fs = std::filesystem;

std::string text_or_empty(const json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || found->is_null()) return {};
  return found->get<std::string>();
}

result<std::vector<added_token>> read_added(const json& root) {
  std::vector<added_token> added;
  const auto list = root.find("added_tokens");
  if (list == root.end() || list->is_null()) return added;
  for (const auto& node : *list) {
    if (auto ok = only_keys(node, "added_tokens",
                            {"id", "content", "special", "single_word",
                             "lstrip", "rstrip", "normalized"});
        !ok)
      return pass_on(ok);
    added_token one;
    one.id = node.at("id").get<token_id>();
    one.content = node.at("content").get<std::string>();
    one.special = node.value("special", false);
    one.single_word = node.value("single_word", false);
    one.lstrip = node.value("lstrip", false);
    one.rstrip = node.value("rstrip", false);
    one.normalized = node.value("normalized", !one.special);
    added.push_back(std::move(one));
  }
  return added;
}

result<merge_list> read_merges(const json& list) {
  merge_list merges;
  merges.reserve(list.size());
  for (const auto& item : list) {
    if (item.is_array() && item.size() == 2) {
      merges.emplace_back(item[0].get<std::string>(),
                          item[1].get<std::string>());
      continue;
    }
    const auto line = item.get<std::string>();
    if (line.starts_with("#version")) continue;
    const auto gap = line.find(' ');
    if (gap == std::string::npos
        || line.find(' ', gap + 1) != std::string::npos)
      return fail(errc::environment, "merge " + std::to_string(merges.size())
                                         + " is `" + line
                                         + "`, not two pieces with one blank");
    merges.emplace_back(line.substr(0, gap), line.substr(gap + 1));
  }
  return merges;
}

result<std::shared_ptr<const vocabulary>> read_vocabulary(const json& node) {
  auto words = std::make_shared<vocabulary>();
  for (const auto& [piece, id] : node.items())
    if (auto done = words->add(piece, id.get<token_id>()); !done)
      return pass_on(done);
  return std::shared_ptr<const vocabulary>(std::move(words));
}

result<void> read_model(const json& node, tokenizer_parts& parts) {
  constexpr std::string_view part = "model";
  // Files older than the type member hold a BPE where they hold merges.
  const bool bpe = node_type(node) == "BPE"
                   || (!node.contains("type") && node.contains("merges"));
  if (!bpe) return unknown_node(part, node);
  if (auto ok = only_keys(node, part,
                          {"dropout", "unk_token", "continuing_subword_prefix",
                           "end_of_word_suffix", "fuse_unk", "byte_fallback",
                           "ignore_merges", "vocab", "merges"});
      !ok)
    return ok;
  if (const auto drop = node.find("dropout");
      drop != node.end() && !drop->is_null() && drop->get<double>() != 0)
    return fail(errc::bad_input, "the model has a dropout of " + drop->dump()
                                     + ": ids would be random; set it to null");
  bpe_options options;
  if (const auto unknown = node.find("unk_token");
      unknown != node.end() && !unknown->is_null())
    options.unknown = unknown->get<std::string>();
  options.continuing_prefix = text_or_empty(node, "continuing_subword_prefix");
  options.word_suffix = text_or_empty(node, "end_of_word_suffix");
  options.fuse_unknown = node.value("fuse_unk", false);
  options.byte_fallback = node.value("byte_fallback", false);
  options.ignore_merges = node.value("ignore_merges", false);
  auto words = read_vocabulary(node.at("vocab"));
  if (!words) return pass_on(words);
  parts.words = *words;
  auto merges = read_merges(node.at("merges"));
  if (!merges) return pass_on(merges);
  std::vector<bool> control(parts.words->size());
  for (const auto& token : parts.added)
    if (token.special && token.id >= 0
        && static_cast<std::size_t>(token.id) < control.size())
      control[static_cast<std::size_t>(token.id)] = true;
  auto model
      = make_bpe_model(parts.words, *merges, options, std::move(control));
  if (!model) return pass_on(model);
  parts.model = *model;
  return {};
}

result<void> read_graph(const json& root, tokenizer_parts& parts) {
  if (auto ok = only_keys(root, "tokenizer",
                          {"version", "truncation", "padding", "added_tokens",
                           "normalizer", "pre_tokenizer", "post_processor",
                           "decoder", "model"});
      !ok)
    return ok;
  const auto node = [&](const char* key) {
    return root.contains(key) ? root.at(key) : json();
  };
  auto added = read_added(root);
  if (!added) return pass_on(added);
  parts.added = std::move(*added);
  auto rewrite = make_normalizer(node("normalizer"));
  if (!rewrite) return pass_on(rewrite);
  parts.rewrite = *rewrite;
  auto cut = make_pre_tokenizer(node("pre_tokenizer"));
  if (!cut) return pass_on(cut);
  parts.cut = *cut;
  auto bos = leading_token(node("post_processor"));
  if (!bos) return pass_on(bos);
  parts.bos = *bos;
  auto spell = decoder::make(node("decoder"));
  if (!spell) return pass_on(spell);
  parts.spell = std::move(*spell);
  if (!root.contains("model"))
    return fail(errc::environment, "the file has no member `model`");
  return read_model(root.at("model"), parts);
}

/// `bos_token` is a text or an object that describes an added token.
std::string token_content(const json& node) {
  if (node.is_string()) return node.get<std::string>();
  return node.is_object() ? text_or_empty(node, "content") : std::string();
}

std::string template_text(const json& node) {
  if (node.is_string()) return node.get<std::string>();
  if (!node.is_array()) return {};
  for (const auto& one : node)
    if (text_or_empty(one, "name") == "default")
      return text_or_empty(one, "template");
  return {};
}

std::optional<token_id> id_of(const tokenizer_parts& parts,
                              std::string_view content) {
  for (const auto& token : parts.added)
    if (token.content == content) return token.id;
  return parts.words->find(content);
}

result<void> read_config(const json& root, tokenizer_parts& parts) {
  if (const auto found = root.find("chat_template"); found != root.end())
    parts.chat_template = template_text(*found);
  const auto add = root.find("add_bos_token");
  if (add == root.end() || !add->is_boolean()) return {};
  if (!add->get<bool>()) {
    parts.bos.reset();
    return {};
  }
  const auto content = root.contains("bos_token")
                           ? token_content(root.at("bos_token"))
                           : std::string();
  const auto id = id_of(parts, content);
  if (content.empty() || !id)
    return fail(errc::environment,
                "tokenizer_config.json says add_bos_token, but its bos_token `"
                    + content + "` is no token of the tokenizer");
  parts.bos = *id;
  return {};
}

std::string_view as_text(const file_map& map) {
  return {reinterpret_cast<const char*>(map.bytes().data()), map.size()};
}

bool is_there(const fs::path& path) {
  std::error_code ignored; // a file that cannot be seen is not there
  return fs::is_regular_file(path, ignored);
}

result<std::shared_ptr<const tokenizer>> load(const fs::path& path) {
  auto map = file_map::open(path);
  if (!map) return pass_on(map);
  auto root
      = parse_json_object((*map)->bytes(), path.string(), "tokenizer.json");
  if (!root) return pass_on(root);
  tokenizer_parts parts;
  if (auto done = read_graph(*root, parts); !done) return pass_on(done);
  const fs::path folder = path.parent_path();
  if (const auto beside = folder / "tokenizer_config.json"; is_there(beside)) {
    auto text = file_map::open(beside);
    if (!text) return pass_on(text);
    auto config = parse_json_object((*text)->bytes(), beside.string(),
                                    "tokenizer_config.json");
    if (!config) return pass_on(config);
    if (auto done = read_config(*config, parts); !done) return pass_on(done);
  }
  if (const auto beside = folder / "chat_template.jinja"; is_there(beside)) {
    auto text = file_map::open(beside);
    if (!text) return pass_on(text);
    parts.chat_template = std::string(as_text(**text));
  }
  sha256 digest;
  digest.add("tokenizer.json\n");
  digest.add((*map)->bytes());
  digest.add("\nbos "
             + (parts.bos ? std::to_string(*parts.bos) : std::string("none")));
  parts.digest = digest.hex();
  return make_graph_tokenizer(std::move(parts));
}

} // namespace

result<std::shared_ptr<const tokenizer>>
load_tokenizer_json(const fs::path& path) {
  const auto with_place = [&](error what) {
    if (what.place.empty()) what.place = path.string();
    return tl::unexpected<error>(std::move(what));
  };
  try {
    auto made = load(path);
    if (!made) return with_place(std::move(made.error()));
    return made;
  } catch (const json::exception& what) {
    return with_place(
        {errc::environment,
         std::string("the tokenizer has a part of another form than known: ")
             + what.what(),
         {}});
  }
}

} // namespace kvloom::engine
