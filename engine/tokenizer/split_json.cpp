#include "engine/tokenizer/split_json.hpp"

#include "engine/tokenizer/json_node.hpp"

#include <string>
#include <utility>

namespace kvloom::engine {

result<split_pattern> make_split_pattern(std::string_view part,
                                         const nlohmann::json& node) {
  const auto& pattern = node.at("pattern");
  if (pattern.is_object() && pattern.size() == 1) {
    if (pattern.contains("String"))
      return split_pattern(pattern.at("String").get<std::string>());
    if (pattern.contains("Regex")) {
      auto compiled = regex::compile(pattern.at("Regex").get<std::string>());
      if (!compiled) return pass_on(compiled);
      return split_pattern(std::move(*compiled));
    }
  }
  return malformed_node(part, node,
                        "a pattern {\"String\": ..} or {\"Regex\": ..}");
}

result<split_behavior> parse_split_behavior(std::string_view name) {
  constexpr std::pair<std::string_view, split_behavior> names[]
      = {{"Removed", split_behavior::removed},
         {"Isolated", split_behavior::isolated},
         {"MergedWithPrevious", split_behavior::merged_with_previous},
         {"MergedWithNext", split_behavior::merged_with_next},
         {"Contiguous", split_behavior::contiguous}};
  for (const auto& [known, behavior] : names)
    if (name == known) return behavior;
  return fail(errc::bad_input,
              "the split behavior `" + std::string(name) + "` is not known");
}

} // namespace kvloom::engine
