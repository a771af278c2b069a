#include "engine/tokenizer/normalizer.hpp"

#include "engine/tokenizer/byte_level.hpp"
#include "engine/tokenizer/json_node.hpp"
#include "engine/tokenizer/split.hpp"
#include "engine/tokenizer/split_json.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <utility>
#include <vector>

namespace kvloom::engine {

namespace {

using node_ptr = std::shared_ptr<const normalizer>;

struct sequence_node final : normalizer {
  std::vector<node_ptr> nodes;

  result<void> apply(std::string& text) const override {
    for (const auto& node : nodes)
      if (auto done = node->apply(text); !done) return done;
    return {};
  }
};

struct form_node final : normalizer {
  normal_form form = normal_form::nfc;

  result<void> apply(std::string& text) const override {
    auto mapped = to_normal_form(text, form);
    if (!mapped)
      return fail(errc::environment,
                  "no memory left for the normal form of a text of "
                      + std::to_string(text.size()) + " bytes");
    text = std::move(*mapped);
    return {};
  }
};

struct lowercase_node final : normalizer {
  result<void> apply(std::string& text) const override {
    text = to_lower(text);
    return {};
  }
};

struct strip_accents_node final : normalizer {
  result<void> apply(std::string& text) const override {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      if (!is_mark(next_char(text, at))) out.append(text, begin, at - begin);
    }
    text = std::move(out);
    return {};
  }
};

struct strip_node final : normalizer {
  bool left = true, right = true;

  result<void> apply(std::string& text) const override {
    std::size_t first = text.size(), last = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      if (is_whitespace(next_char(text, at))) continue;
      first = std::min(first, begin);
      last = at;
    }
    if (!left) first = 0;
    if (!right) last = text.size();
    text = first < last ? text.substr(first, last - first) : std::string();
    return {};
  }
};

struct prepend_node final : normalizer {
  std::string prefix;

  result<void> apply(std::string& text) const override {
    if (!text.empty()) text.insert(0, prefix);
    return {};
  }
};

struct replace_node final : normalizer {
  split_pattern pattern;
  std::string content;

  explicit replace_node(split_pattern what) : pattern(std::move(what)) {}

  result<void> apply(std::string& text) const override {
    std::vector<stretch> parts;
    if (auto found = find_stretches(pattern, text, parts); !found) return found;
    std::string out;
    out.reserve(text.size());
    for (const auto& part : parts) {
      if (part.match)
        out += content;
      else
        out.append(text, part.begin, part.end - part.begin);
    }
    text = std::move(out);
    return {};
  }
};

struct byte_level_node final : normalizer {
  result<void> apply(std::string& text) const override {
    std::string out;
    append_byte_chars(text, out);
    text = std::move(out);
    return {};
  }
};

} // namespace

result<node_ptr> make_normalizer(const nlohmann::json& node, int depth) {
  constexpr std::string_view part = "normalizer";
  if (node.is_null()) return node_ptr();
  const auto type = node_type(node);
  if (type == "Sequence") {
    if (auto ok = only_keys(node, part, {"normalizers"}); !ok)
      return pass_on(ok);
    if (depth >= max_node_depth)
      return malformed_node(part, node, "a nesting of at most 16");
    auto made = std::make_shared<sequence_node>();
    for (const auto& inner : node.at("normalizers")) {
      auto child = make_normalizer(inner, depth + 1);
      if (!child) return child;
      if (*child) made->nodes.push_back(std::move(*child));
    }
    return node_ptr(made);
  }
  constexpr std::pair<std::string_view, normal_form> forms[]
      = {{"NFC", normal_form::nfc},
         {"NFD", normal_form::nfd},
         {"NFKC", normal_form::nfkc},
         {"NFKD", normal_form::nfkd}};
  for (const auto& [name, form] : forms) {
    if (type != name) continue;
    auto made = std::make_shared<form_node>();
    made->form = form;
    if (auto ok = only_keys(node, part, {}); !ok) return pass_on(ok);
    return node_ptr(made);
  }
  if (type == "Lowercase" || type == "StripAccents" || type == "ByteLevel") {
    if (auto ok = only_keys(node, part, {}); !ok) return pass_on(ok);
    if (type == "Lowercase")
      return node_ptr(std::make_shared<lowercase_node>());
    if (type == "StripAccents")
      return node_ptr(std::make_shared<strip_accents_node>());
    return node_ptr(std::make_shared<byte_level_node>());
  }
  if (type == "Strip") {
    if (auto ok = only_keys(node, part, {"strip_left", "strip_right"}); !ok)
      return pass_on(ok);
    auto made = std::make_shared<strip_node>();
    made->left = node.at("strip_left").get<bool>();
    made->right = node.at("strip_right").get<bool>();
    return node_ptr(made);
  }
  if (type == "Prepend") {
    if (auto ok = only_keys(node, part, {"prepend"}); !ok) return pass_on(ok);
    auto made = std::make_shared<prepend_node>();
    made->prefix = node.at("prepend").get<std::string>();
    return node_ptr(made);
  }
  if (type == "Replace") {
    if (auto ok = only_keys(node, part, {"pattern", "content"}); !ok)
      return pass_on(ok);
    auto pattern = make_split_pattern(part, node);
    if (!pattern) return pass_on(pattern);
    auto made = std::make_shared<replace_node>(std::move(*pattern));
    made->content = node.at("content").get<std::string>();
    return node_ptr(made);
  }
  return unknown_node(part, node);
}

} // namespace kvloom::engine
