#include "engine/tokenizer/post_processor.hpp"

#include "engine/tokenizer/json_node.hpp"

namespace kvloom::engine {

namespace {

constexpr std::string_view part = "post_processor";
using leading = std::optional<token_id>;

result<leading> from_template(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part, {"single", "pair", "special_tokens"});
      !ok)
    return pass_on(ok);
  leading found;
  for (const auto& piece : node.at("single")) {
    if (piece.contains("Sequence")) break;
    if (!piece.contains("SpecialToken"))
      return malformed_node(part, node, "pieces SpecialToken and Sequence");
    const auto name = piece.at("SpecialToken").at("id").get<std::string>();
    for (const auto& id : node.at("special_tokens").at(name).at("ids")) {
      if (found)
        return fail(errc::bad_input,
                    "the post_processor puts more than one token before a "
                    "text; prompts here start with one at most");
      found = id.get<token_id>();
    }
  }
  return found;
}

} // namespace

result<leading> leading_token(const nlohmann::json& node, int depth) {
  if (node.is_null()) return leading();
  const auto type = node_type(node);
  if (type == "TemplateProcessing") return from_template(node);
  if (type == "ByteLevel") {
    if (auto ok = only_keys(node, part,
                            {"add_prefix_space", "trim_offsets", "use_regex"});
        !ok)
      return pass_on(ok);
    return leading();
  }
  if (type == "Sequence") {
    if (auto ok = only_keys(node, part, {"processors"}); !ok)
      return pass_on(ok);
    if (depth >= max_node_depth)
      return malformed_node(part, node, "a nesting of at most 16");
    leading found;
    for (const auto& inner : node.at("processors")) {
      auto one = leading_token(inner, depth + 1);
      if (!one) return one;
      if (!*one) continue;
      if (found)
        return fail(errc::bad_input,
                    "two nodes of the post_processor put a token before the "
                    "text; prompts here start with one at most");
      found = *one;
    }
    return found;
  }
  return unknown_node(part, node);
}

} // namespace kvloom::engine
