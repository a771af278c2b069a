#include "engine/tokenizer/gguf_tokenizer.hpp"

#include "core/base/sha256.hpp"
#include "engine/tokenizer/bpe_model.hpp"
#include "engine/tokenizer/graph_tokenizer.hpp"
#include "engine/tokenizer/score_model.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace kvloom::engine {

namespace {

using nlohmann::json;

/// What a name in `tokenizer.ggml.pre` stands for, as the models' own
/// tokenizer.json files write it.
struct named_pre {
  std::string_view name;
  /// Patterns that isolate their matches, one after the other; then the
  /// byte-level alphabet. Empty: the alphabet's own pattern.
  std::array<std::string_view, 4> patterns;
  bool single_digits = false; ///< digits are cut off first, one by one
  bool ignore_merges = false;
  bool add_bos = false; ///< where the file does not say
  std::string_view normal_form = {};
};

constexpr std::string_view gpt2_pattern
    = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
      R"(|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_pattern
    = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
      R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_pattern
    = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
      R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekken_pattern
    = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
      R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
      R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
      R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
      R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr named_pre known_pres[] = {
    {"gpt-2", {}},
    {"phi-2", {}},
    // What converters wrote before they knew a model's own way.
    {"default",
     {R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
    {"smollm", {}, true},
    {"starcoder", {}, true},
    {"llama-bpe", {llama3_pattern}, false, true, true},
    {"llama3", {llama3_pattern}, false, true, true},
    {"llama-v3", {llama3_pattern}, false, true, true},
    {"qwen2", {qwen2_pattern}, false, false, false, "NFC"},
    {"tekken", {tekken_pattern}, false, true, true},
};

const named_pre* find_pre(std::string_view name) {
  for (const auto& one : known_pres)
    if (one.name == name) return &one;
  return nullptr;
}

std::string known_names() {
  std::string names;
  for (const auto& one : known_pres) {
    if (!names.empty()) names += ", ";
    names += one.name;
  }
  return names;
}

json pre_node(const named_pre& pre, bool prefix_space) {
  json nodes = json::array();
  if (pre.single_digits)
    nodes.push_back({{"type", "Digits"}, {"individual_digits", true}});
  bool own = false;
  for (const auto pattern : pre.patterns) {
    if (pattern.empty()) continue;
    own = true;
    nodes.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", pattern}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  nodes.push_back({{"type", "ByteLevel"},
                   {"add_prefix_space", prefix_space},
                   {"use_regex", !own}});
  return {{"type", "Sequence"}, {"pretokenizers", nodes}};
}

/// Fills vocabulary and added tokens; `types` comes back complete.
result<void> read_pieces(const gguf_vocabulary& file, tokenizer_parts& parts,
                         std::vector<piece_type>& types) {
  const std::size_t n = file.tokens.size();
  if (n == 0)
    return fail(errc::environment, "the GGUF file has no tokenizer tokens");
  if (!file.types.empty() && file.types.size() != n)
    return fail(errc::environment,
                "the GGUF file has " + std::to_string(n) + " tokens and "
                    + std::to_string(file.types.size()) + " token types");
  types.assign(n, piece_type::normal);
  for (std::size_t i = 0; i < file.types.size(); ++i) {
    if (file.types[i] < 1 || file.types[i] > 6)
      return fail(errc::environment,
                  "the token " + std::to_string(i) + " has the type "
                      + std::to_string(file.types[i]) + "; types are 1 to 6");
    types[i] = static_cast<piece_type>(file.types[i]);
  }
  // Old files have no types; what they name as marks is control all the same.
  if (file.types.empty())
    for (const auto& id : {file.bos, file.eos, file.padding})
      if (id && *id >= 0 && static_cast<std::size_t>(*id) < n)
        types[static_cast<std::size_t>(*id)] = piece_type::control;
  auto words = std::make_shared<vocabulary>();
  for (std::size_t i = 0; i < n; ++i) {
    const auto id = static_cast<token_id>(i);
    if (auto done = words->add(file.tokens[i], id); !done) return done;
    const bool control
        = types[i] == piece_type::control || types[i] == piece_type::unknown;
    if (!control && types[i] != piece_type::user_defined) continue;
    // Padding pieces may share a spelling; the first one has it.
    if (words->find(file.tokens[i]) != id) continue;
    parts.added.push_back(
        {.id = id, .content = file.tokens[i], .special = control});
  }
  parts.words = std::move(words);
  return {};
}

result<void> set_bos(const gguf_vocabulary& file, bool by_default,
                     tokenizer_parts& parts) {
  if (!file.add_bos.value_or(by_default)) return {};
  if (!file.bos) {
    if (!file.add_bos) return {};
    return fail(errc::environment, "the GGUF file wants a BOS token before "
                                   "every prompt, but names none");
  }
  if (parts.words->piece(*file.bos) == nullptr)
    return fail(errc::environment, "the BOS id " + std::to_string(*file.bos)
                                       + " is not in the vocabulary of "
                                       + std::to_string(parts.words->size()));
  parts.bos = file.bos;
  return {};
}

result<void> build_gpt2(const gguf_vocabulary& file, tokenizer_parts& parts) {
  const auto* pre = find_pre(file.pre);
  if (pre == nullptr)
    return fail(
        errc::bad_input,
        (file.pre.empty() ? std::string("the GGUF file names no pre-tokenizer "
                                        "(tokenizer.ggml.pre)")
                          : "the pre-tokenizer `" + file.pre
                                + "` of the GGUF file is not known")
            + "; ids could differ, so it is not loaded. Known: " + known_names()
            + ". A tokenizer.json may be named instead");
  std::vector<piece_type> types;
  if (auto done = read_pieces(file, parts, types); !done) return done;
  merge_list merges;
  merges.reserve(file.merges.size());
  for (const auto& line : file.merges) {
    // A piece is never empty, so the gap is not the first character.
    const auto gap = line.find(' ', 1);
    if (gap == std::string::npos)
      return fail(errc::environment, "merge " + std::to_string(merges.size())
                                         + " is `" + line
                                         + "`, not two pieces with a blank");
    merges.emplace_back(line.substr(0, gap), line.substr(gap + 1));
  }
  bpe_options options;
  options.ignore_merges = pre->ignore_merges;
  std::vector<bool> control(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    control[i]
        = types[i] == piece_type::control || types[i] == piece_type::unknown;
  auto model = make_bpe_model(parts.words, merges, options, std::move(control));
  if (!model) return pass_on(model);
  parts.model = *model;
  if (!pre->normal_form.empty()) {
    auto rewrite = make_normalizer(json{{"type", pre->normal_form}});
    if (!rewrite) return pass_on(rewrite);
    parts.rewrite = *rewrite;
  }
  auto cut = make_pre_tokenizer(
      pre_node(*pre, file.add_space_prefix.value_or(false)));
  if (!cut) return pass_on(cut);
  parts.cut = *cut;
  auto spell = decoder::make(json{{"type", "ByteLevel"}});
  if (!spell) return pass_on(spell);
  parts.spell = std::move(*spell);
  return set_bos(file, pre->add_bos, parts);
}

result<void> build_llama(const gguf_vocabulary& file, tokenizer_parts& parts) {
  std::vector<piece_type> types;
  if (auto done = read_pieces(file, parts, types); !done) return done;
  if (file.scores.size() != file.tokens.size())
    return fail(errc::environment,
                "the llama vocabulary has " + std::to_string(file.tokens.size())
                    + " tokens and " + std::to_string(file.scores.size())
                    + " scores");
  parts.model = make_score_model(parts.words, file.scores, types, file.unknown);
  constexpr std::string_view space = "\xe2\x96\x81";
  const bool prefix = file.add_space_prefix.value_or(true);
  json rewrite = json::array();
  if (prefix) rewrite.push_back({{"type", "Prepend"}, {"prepend", space}});
  rewrite.push_back({{"type", "Replace"},
                     {"pattern", {{"String", " "}}},
                     {"content", space}});
  auto made = make_normalizer(
      json{{"type", "Sequence"}, {"normalizers", std::move(rewrite)}});
  if (!made) return pass_on(made);
  parts.rewrite = *made;
  json steps = {
      {{"type", "Replace"}, {"pattern", {{"String", space}}}, {"content", " "}},
      {{"type", "ByteFallback"}},
      {{"type", "Fuse"}}};
  if (prefix)
    steps.push_back(
        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  auto spell = decoder::make(
      json{{"type", "Sequence"}, {"decoders", std::move(steps)}});
  if (!spell) return pass_on(spell);
  parts.spell = std::move(*spell);
  return set_bos(file, true, parts);
}

std::string digest_of(const gguf_vocabulary& file,
                      const std::optional<token_id>& bos) {
  sha256 digest;
  const auto number
      = [&](std::uint64_t value) { digest.add(std::to_string(value) + ";"); };
  const auto text = [&](std::string_view value) {
    number(value.size());
    digest.add(value);
  };
  const auto texts = [&](const std::vector<std::string>& list) {
    number(list.size());
    for (const auto& one : list) text(one);
  };
  text("gguf");
  text(file.model);
  text(file.pre);
  texts(file.tokens);
  texts(file.merges);
  number(file.scores.size());
  for (const float score : file.scores) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &score, sizeof bits);
    number(bits);
  }
  number(file.types.size());
  for (const auto type : file.types) number(static_cast<std::uint32_t>(type));
  text(bos ? std::to_string(*bos) : "none");
  text(file.unknown ? std::to_string(*file.unknown) : "none");
  text(!file.add_space_prefix   ? "unset"
       : *file.add_space_prefix ? "prefix"
                                : "no prefix");
  return digest.hex();
}

} // namespace

result<std::shared_ptr<const tokenizer>>
make_gguf_tokenizer(const gguf_vocabulary& file) {
  tokenizer_parts parts;
  result<void> built;
  if (file.model == "gpt2")
    built = build_gpt2(file, parts);
  else if (file.model == "llama")
    built = build_llama(file, parts);
  else
    return fail(errc::bad_input,
                "the GGUF file has a tokenizer of the kind `" + file.model
                    + "`; known are gpt2 and llama. A tokenizer.json may be "
                      "named instead");
  if (!built) return pass_on(built);
  parts.digest = digest_of(file, parts.bos);
  parts.chat_template = file.chat_template;
  return make_graph_tokenizer(std::move(parts));
}

} // namespace kvloom::engine
