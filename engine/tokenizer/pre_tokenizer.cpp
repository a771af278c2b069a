#include "engine/tokenizer/pre_tokenizer.hpp"

#include "engine/tokenizer/byte_level.hpp"
#include "engine/tokenizer/json_node.hpp"
#include "engine/tokenizer/split.hpp"
#include "engine/tokenizer/split_json.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <utility>

namespace kvloom::engine {

namespace {

constexpr std::string_view part = "pre_tokenizer";
using node_ptr = std::shared_ptr<const pre_tokenizer>;

struct sequence_node final : pre_tokenizer {
  std::vector<node_ptr> nodes;

  result<void> apply(segmented_text& all) const override {
    for (const auto& node : nodes)
      if (auto done = node->apply(all); !done) return done;
    return {};
  }
};

struct split_node final : pre_tokenizer {
  split_pattern pattern;
  split_behavior behavior;
  bool invert;

  split_node(split_pattern what, split_behavior how, bool swap)
      : pattern(std::move(what)), behavior(how), invert(swap) {}

  result<void> apply(segmented_text& all) const override {
    return split_segments(all, pattern, behavior, invert);
  }
};

struct byte_level_node final : pre_tokenizer {
  bool add_prefix_space = true;
  std::optional<split_pattern> words; ///< use_regex

  result<void> apply(segmented_text& all) const override {
    if (add_prefix_space)
      rewrite_segments(
          all, [](std::string_view view, const auto&, std::string& out) {
            if (!view.starts_with(' ')) out += ' ';
            out += view;
          });
    if (words) {
      auto cut = split_segments(all, *words, split_behavior::isolated, false);
      if (!cut) return cut;
    }
    rewrite_segments(all,
                     [](std::string_view view, const auto&, std::string& out) {
                       append_byte_chars(view, out);
                     });
    return {};
  }
};

enum class prepend_scheme : std::uint8_t { first, never, always };

struct metaspace_node final : pre_tokenizer {
  std::string replacement;
  prepend_scheme scheme = prepend_scheme::always;
  bool split = true;

  result<void> apply(segmented_text& all) const override {
    rewrite_segments(all, [&](std::string_view view, const text_segment& seg,
                              std::string& out) {
      const bool prepend = scheme == prepend_scheme::always
                           || (scheme == prepend_scheme::first && seg.at_start);
      if (prepend && !view.starts_with(' ') && !view.starts_with(replacement))
        out += replacement;
      for (const char c : view) {
        if (c == ' ')
          out += replacement;
        else
          out += c;
      }
    });
    if (!split) return {};
    return split_segments(all, split_pattern(replacement),
                          split_behavior::merged_with_next, false);
  }
};

result<node_ptr> make_byte_level(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part,
                          {"add_prefix_space", "trim_offsets", "use_regex"});
      !ok)
    return pass_on(ok);
  auto made = std::make_shared<byte_level_node>();
  made->add_prefix_space = node.at("add_prefix_space").get<bool>();
  if (node.value("use_regex", true)) {
    auto words = regex::compile(
        R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
        R"(|\s+(?!\S)|\s+)");
    if (!words) return pass_on(words);
    made->words = split_pattern(std::move(*words));
  }
  return node_ptr(made);
}

result<node_ptr> make_metaspace(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part,
                          {"replacement", "add_prefix_space", "prepend_scheme",
                           "split", "str_rep"});
      !ok)
    return pass_on(ok);
  auto made = std::make_shared<metaspace_node>();
  made->replacement = node.at("replacement").get<std::string>();
  if (made->replacement.empty())
    return malformed_node(part, node, "a replacement of one character");
  made->split = node.value("split", true);
  const bool prefix = node.value("add_prefix_space", true);
  // Files before prepend_scheme existed say add_prefix_space alone.
  const auto scheme
      = node.value("prepend_scheme", std::string(prefix ? "always" : "never"));
  if (scheme == "first")
    made->scheme = prepend_scheme::first;
  else if (scheme == "always")
    made->scheme = prepend_scheme::always;
  else if (scheme == "never")
    made->scheme = prepend_scheme::never;
  else
    return fail(errc::bad_input,
                "the prepend_scheme `" + scheme
                    + "` of Metaspace is none of first, always, never");
  if (!prefix && made->scheme != prepend_scheme::never)
    return fail(errc::bad_input,
                "Metaspace says add_prefix_space false and prepend_scheme "
                    + scheme + ", which contradict each other");
  return node_ptr(made);
}

node_ptr split_by(split_pattern pattern, split_behavior behavior,
                  bool invert = false) {
  return std::make_shared<split_node>(std::move(pattern), behavior, invert);
}

/// Words, or runs of what is neither word nor blank; the set of is_word().
result<regex> words_and_punctuation() {
  const std::string word
      = R"(\p{Alphabetic}\p{L}\p{M}\p{Nd}\p{Pc}\p{Join_Control})";
  return regex::compile("[" + word + "]+|[^" + word + R"(\s]+)");
}

} // namespace

result<node_ptr> make_pre_tokenizer(const nlohmann::json& node, int depth) {
  if (node.is_null()) return node_ptr();
  const auto type = node_type(node);
  if (type == "Sequence") {
    if (auto ok = only_keys(node, part, {"pretokenizers"}); !ok)
      return pass_on(ok);
    if (depth >= max_node_depth)
      return malformed_node(part, node, "a nesting of at most 16");
    auto made = std::make_shared<sequence_node>();
    for (const auto& inner : node.at("pretokenizers")) {
      auto child = make_pre_tokenizer(inner, depth + 1);
      if (!child) return child;
      if (*child) made->nodes.push_back(std::move(*child));
    }
    return node_ptr(made);
  }
  if (type == "ByteLevel") return make_byte_level(node);
  if (type == "Metaspace") return make_metaspace(node);
  if (type == "Split") {
    if (auto ok = only_keys(node, part, {"pattern", "behavior", "invert"}); !ok)
      return pass_on(ok);
    auto pattern = make_split_pattern(part, node);
    if (!pattern) return pass_on(pattern);
    auto behavior
        = parse_split_behavior(node.at("behavior").get<std::string>());
    if (!behavior) return pass_on(behavior);
    return split_by(std::move(*pattern), *behavior,
                    node.value("invert", false));
  }
  if (type == "Digits") {
    if (auto ok = only_keys(node, part, {"individual_digits"}); !ok)
      return pass_on(ok);
    return split_by(char_test(is_numeric),
                    node.at("individual_digits").get<bool>()
                        ? split_behavior::isolated
                        : split_behavior::contiguous);
  }
  if (type == "Punctuation") {
    if (auto ok = only_keys(node, part, {"behavior"}); !ok) return pass_on(ok);
    auto behavior
        = parse_split_behavior(node.value("behavior", std::string("Isolated")));
    if (!behavior) return pass_on(behavior);
    return split_by(char_test(is_punctuation), *behavior);
  }
  if (type == "WhitespaceSplit") {
    if (auto ok = only_keys(node, part, {}); !ok) return pass_on(ok);
    return split_by(char_test(is_whitespace), split_behavior::removed);
  }
  if (type == "Whitespace") {
    if (auto ok = only_keys(node, part, {}); !ok) return pass_on(ok);
    // Its words are those of is_word(), joiners included.
    auto words = words_and_punctuation();
    if (!words) return pass_on(words);
    return split_by(std::move(*words), split_behavior::removed, true);
  }
  if (type == "CharDelimiterSplit") {
    if (auto ok = only_keys(node, part, {"delimiter"}); !ok) return pass_on(ok);
    return split_by(node.at("delimiter").get<std::string>(),
                    split_behavior::removed);
  }
  return unknown_node(part, node);
}

} // namespace kvloom::engine
