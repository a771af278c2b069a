#include "engine/tokenizer/json_node.hpp"

#include <algorithm>

namespace kvloom::engine {

std::string node_type(const nlohmann::json& node) {
  if (!node.is_object()) return {};
  const auto found = node.find("type");
  if (found == node.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

result<void> only_keys(const nlohmann::json& node, std::string_view part,
                       std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : node.items()) {
    if (key == "type" || std::find(keys.begin(), keys.end(), key) != keys.end())
      continue;
    return fail(errc::bad_input, "the key `" + key + "` of " + std::string(part)
                                     + " node " + node_type(node)
                                     + " is not known; ids could differ");
  }
  return {};
}

tl::unexpected<error> unknown_node(std::string_view part,
                                   const nlohmann::json& node) {
  const auto type = node_type(node);
  return fail(errc::bad_input,
              "the " + std::string(part) + " has a node of type "
                  + (type.empty() ? "(none)" : type)
                  + ", which is not supported; ids would differ, so the "
                    "tokenizer is not loaded");
}

tl::unexpected<error> malformed_node(std::string_view part,
                                     const nlohmann::json& node,
                                     std::string_view wanted) {
  return fail(errc::environment, "the " + std::string(part) + " node "
                                     + node_type(node) + " needs "
                                     + std::string(wanted));
}

} // namespace kvloom::engine
