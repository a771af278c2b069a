#include "graphs/check/experiment_file.hpp"

#include "configs/read/section.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/check_names.hpp"
#include "graphs/check/graph_file.hpp"

#include <map>

namespace kvloom::graphs {

namespace {

using configs::diagnostics;
using configs::yaml_entry;
using configs::yaml_kind;
using configs::yaml_node;

void read_set(const yaml_node& set, std::vector<written_setting>& out,
              diagnostics& problems) {
  std::map<std::string, configs::source_place> seen;
  const auto add = [&](written_setting one) {
    const auto [first, fresh]
        = seen.emplace(one.owner + '.' + one.name, one.key_place);
    if (fresh)
      out.push_back(std::move(one));
    else
      problems.push_back({one.key_place, "set",
                          configs::shown(one.owner + '.' + one.name)
                              + " is set twice, first at "
                              + to_string(first->second)
                              + "; keep one of them"});
  };
  for (const yaml_entry& entry : set.entries) {
    const std::size_t dot = entry.key.find('.');
    const std::string path = "set." + entry.key;
    if (dot != std::string::npos) {
      add({entry.key.substr(0, dot), entry.key.substr(dot + 1), entry.value,
           entry.key_place, path});
      continue;
    }
    if (entry.value->kind != yaml_kind::mapping) {
      problems.push_back({entry.key_place, "set",
                          "found the key " + configs::shown(entry.key)
                              + ", wanted `actor.param: value` or `actor: "
                                "{param: value}`"});
      continue;
    }
    for (const yaml_entry& inner : entry.value->entries)
      add({entry.key, inner.key, inner.value, inner.key_place,
           path + '.' + inner.key});
  }
}

} // namespace

written_experiment read_experiment(const configs::yaml_ptr& root,
                                   diagnostics& problems) {
  written_experiment out;
  out.root = root;
  configs::refuse_unknown_keys(
      *root, {},
      {"schema", "name", "graph", "set", "sweep", "repeat", "warmup", "seed"},
      problems);
  if (const auto name = read_text_key(*root, "name", {}, false, problems)) {
    out.name = *name;
    const std::string bad = run_name_problem(*name);
    if (!bad.empty())
      problems.push_back({root->find("name")->value->place, "name", bad});
  }
  if (const yaml_entry* sweep = root->find("sweep"))
    problems.push_back({sweep->key_place, "sweep",
                        "this build runs single points only; remove `sweep` "
                        "and set one value each under `set`"});
  if (const yaml_entry* graph = root->find("graph")) {
    out.graph_place = graph->value->place;
    if (graph->value->kind == yaml_kind::mapping)
      out.inline_graph = graph->value;
    else if (graph->value->kind == yaml_kind::scalar
             && !graph->value->text.empty())
      out.graph = graph->value->text;
    else
      problems.push_back({graph->value->place, "graph",
                          "found " + describe(*graph->value)
                              + ", wanted the path of a graph file"});
  } else {
    problems.push_back({root->place,
                        {},
                        "the key `graph` is missing, wanted the path of a "
                        "graph file"});
  }
  if (const yaml_entry* set = root->find("set"))
    if (configs::expect_mapping(*set->value, "set",
                                "a mapping of `actor.param: value`", problems))
      read_set(*set->value, out.set, problems);
  return out;
}

} // namespace kvloom::graphs
