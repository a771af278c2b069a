#include "configs/read/section.hpp"

#include "configs/read/value.hpp"
#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"

#include <algorithm>

namespace kvloom::configs {

bool expect_mapping(const yaml_node& node, const std::string& key_path,
                    const std::string& wanted, diagnostics& problems) {
  if (node.kind == yaml_kind::mapping) return true;
  problems.push_back(
      {node.place, key_path, "found " + describe(node) + ", wanted " + wanted});
  return false;
}

void refuse_unknown_keys(const yaml_node& node, const std::string& key_path,
                         const std::vector<std::string>& known,
                         diagnostics& problems) {
  for (const yaml_entry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end())
      continue;
    problems.push_back({entry.key_place, key_path,
                        "unknown key " + shown(entry.key)
                            + hint(entry.key, "known keys", known)});
  }
}

std::map<std::string, placed_value>
read_params(const yaml_node& node, const std::vector<param_spec>& specs,
            const std::string& key_path, diagnostics& problems) {
  std::map<std::string, placed_value> values;
  if (!expect_mapping(node, key_path, "a mapping of parameters", problems))
    return values;
  refuse_unknown_keys(node, key_path, names_of(specs), problems);
  for (const yaml_entry& entry : node.entries) {
    const param_spec* spec = find_spec(specs, entry.key);
    if (spec == nullptr) continue;
    const auto value = read_value(*spec, *entry.value,
                                  join_path(key_path, entry.key), problems);
    if (value) values[entry.key] = {*value, entry.value->place};
  }
  return values;
}

const param_spec* find_spec(const std::vector<param_spec>& specs,
                            const std::string& name) {
  const auto found
      = std::find_if(specs.begin(), specs.end(),
                     [&](const param_spec& spec) { return spec.name == name; });
  return found == specs.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<param_spec>& specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const param_spec& spec : specs) names.push_back(spec.name);
  return names;
}

std::string join_path(const std::string& outer, const std::string& inner) {
  return outer.empty() ? inner : outer + '.' + inner;
}

} // namespace kvloom::configs
