#include "actors/wiring/registry.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graphs/check/load_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kvloom::cli {

namespace {

using configs::param_spec;
using graphs::actor_kind;
using graphs::port_spec;
using nlohmann::json;

std::string range_of(const param_spec& spec) {
  if (!spec.choices.empty())
    return fmt::format("{}", fmt::join(spec.choices, " | "));
  if (spec.least && spec.most)
    return fmt::format("{} .. {}", *spec.least, *spec.most);
  if (spec.least) return fmt::format(">= {}", *spec.least);
  if (spec.most) return fmt::format("<= {}", *spec.most);
  return {};
}

std::string fallback_of(const param_spec& spec) {
  if (spec.fallback) return configs::to_text(spec.type, *spec.fallback);
  return spec.optional ? "absent" : "must be given";
}

void print_params(const std::vector<param_spec>& specs) {
  for (const auto& spec : specs) {
    const auto range = range_of(spec);
    put("    {:<18} {:<12} default {}{}{}\n      {}\n", spec.name,
        configs::to_string(spec.type), fallback_of(spec),
        range.empty() ? "" : ", " + range,
        spec.unit.empty() ? "" : ", in " + spec.unit, spec.help);
  }
}

void print_ports(const char* direction, const std::vector<port_spec>& ports) {
  for (const auto& port : ports) {
    put("    {:<3} {:<14} {:<12} {}{}\n      {}\n", direction, port.name,
        port.payload, port.required ? "one edge" : "optional",
        port.many ? " or more" : "", port.help);
  }
}

void print_kind(const actor_kind& kind) {
  put("{}\n  {}\n", kind.name, kind.help);
  if (!kind.inputs.empty() || !kind.outputs.empty()) put("  ports\n");
  print_ports("in", kind.inputs);
  print_ports("out", kind.outputs);
  if (!kind.params.empty()) put("  parameters\n");
  print_params(kind.params);
  put("\n");
}

void print_section(const char* name, const std::vector<param_spec>& specs) {
  put("{}\n  the section `{}` of a graph file\n  parameters\n", name, name);
  print_params(specs);
  put("\n");
}

json params_json(const std::vector<param_spec>& specs) {
  auto all = json::array();
  for (const auto& spec : specs) {
    json one{{"name", spec.name},
             {"type", configs::to_string(spec.type)},
             {"help", spec.help}};
    if (spec.fallback)
      one["default"] = configs::to_text(spec.type, *spec.fallback);
    if (!spec.unit.empty()) one["unit"] = spec.unit;
    if (spec.least) one["least"] = *spec.least;
    if (spec.most) one["most"] = *spec.most;
    if (!spec.choices.empty()) one["choices"] = spec.choices;
    one["must_be_given"] = !spec.fallback && !spec.optional;
    all.push_back(std::move(one));
  }
  return all;
}

json ports_json(const std::vector<port_spec>& ports) {
  auto all = json::array();
  for (const auto& port : ports) {
    all.push_back({{"name", port.name},
                   {"payload", port.payload},
                   {"required", port.required},
                   {"many", port.many},
                   {"help", port.help}});
  }
  return all;
}

json kind_json(const actor_kind& kind) {
  return {{"name", kind.name},
          {"help", kind.help},
          {"inputs", ports_json(kind.inputs)},
          {"outputs", ports_json(kind.outputs)},
          {"params", params_json(kind.params)}};
}

} // namespace

int actors(const actors_options& options) {
  kvloom::actors::node_registry nodes;
  kvloom::actors::register_builtin_nodes(nodes);
  const auto kinds = kvloom::actors::kinds_of(nodes);
  const auto wanted = [&](const std::string& name) {
    return options.kind.empty() || options.kind == name;
  };
  auto out = json::array();
  bool found = false;
  for (const auto& [name, kind] : kinds.all()) {
    if (!wanted(name)) continue;
    found = true;
    if (options.common.json)
      out.push_back(kind_json(kind));
    else
      print_kind(kind);
  }
  for (const auto& [name, specs] :
       {std::pair{"model", &graphs::model_params()},
        std::pair{"prompt", &graphs::prompt_params()},
        std::pair{"place", &graphs::place_params()},
        std::pair{"edges", &graphs::edge_params()}}) {
    if (!wanted(name)) continue;
    found = true;
    if (options.common.json)
      out.push_back(
          {{"name", name}, {"section", true}, {"params", params_json(*specs)}});
    else
      print_section(name, *specs);
  }
  if (!found) {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kinds.all()) names.push_back(name);
    return report_error({errc::bad_input,
                         fmt::format("there is no actor type '{}'; known: {}",
                                     options.kind, fmt::join(names, ", ")),
                         "kvloom actors"});
  }
  if (options.common.json) put("{}\n", out.dump(2));
  return 0;
}

} // namespace kvloom::cli
