#include "graphs/check/resolved_yaml.hpp"

#include "configs/read/section.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/graph_file.hpp"

#include <utility>

namespace kvloom::graphs {

namespace {

using configs::origin_layer;
using configs::yaml_scalar;

std::string origin_text(const configs::value_origin& origin,
                        with_origins origins) {
  if (origins == with_origins::no) return {};
  std::string place;
  if (!origin.place.empty()) {
    // Between backticks in messages; here without, on one line all the same.
    for (const char c : origin.place)
      place += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    place = " " + place;
  }
  switch (origin.layer) {
  case origin_layer::registered_default:
    return "  # default";
  case origin_layer::graph:
    return "  # graph" + place;
  case origin_layer::experiment:
    return "  # experiment" + place;
  case origin_layer::environment:
    return "  # environment" + place;
  case origin_layer::command_line:
    return "  # command line" + place;
  }
  return {};
}

/// One line a value, in the order of the declarations.
std::string params_text(const configs::resolved_params& params,
                        const std::vector<configs::param_spec>& specs,
                        const std::string& indent, with_origins origins) {
  std::string out;
  for (const configs::param_spec& spec : specs) {
    const auto found = params.all().find(spec.name);
    if (found == params.all().end()) continue;
    out += indent + yaml_scalar(spec.name) + ": "
           + to_text(spec.type, found->second.value)
           + origin_text(found->second.origin, origins) + '\n';
  }
  return out;
}

std::string section_text(const std::string& name,
                         const configs::resolved_params& params,
                         const std::vector<configs::param_spec>& specs,
                         const std::string& indent, with_origins origins) {
  const std::string inside = params_text(params, specs, indent + "  ", origins);
  if (inside.empty()) return {};
  return indent + name + ":\n" + inside;
}

std::string node_text(const graph_node& node, const kind_catalogue& kinds,
                      with_origins origins) {
  const std::string indent = "      ";
  std::string out = "    " + yaml_scalar(node.name) + ":\n" + indent
                    + "type: " + yaml_scalar(node.kind) + '\n';
  configs::resolved_params place;
  const auto add = [&](const char* key, configs::param_value value) {
    const auto given = node.place_origins.find(key);
    place.set(key, {std::move(value), given == node.place_origins.end()
                                          ? configs::value_origin{}
                                          : given->second});
  };
  add("device", node.place.device);
  add("node", node.place.node);
  add("replicas", node.place.replicas);
  add("threads", node.place.threads);
  out += section_text("place", place, place_params(), indent, origins);
  const actor_kind* kind = kinds.find(node.kind);
  if (kind != nullptr)
    out += section_text("params", node.params, kind->params, indent, origins);
  return out;
}

} // namespace

std::string write_resolved(const run_plan& plan,
                           const configs::resolved_params& run,
                           const kind_catalogue& kinds, with_origins origins) {
  const graph& wiring = plan.wiring;
  std::string out;
  if (origins == with_origins::yes)
    out += "# The resolved configuration: every value, and where it comes "
           "from.\n";
  out += std::string("schema: ") + experiment_schema + '\n';
  out += "name: " + yaml_scalar(plan.name) + '\n';
  out += params_text(run, run_params(), {}, origins);
  out += "graph:\n";
  out += std::string("  schema: ") + graph_schema + '\n';
  out += "  name: " + yaml_scalar(wiring.name) + '\n';
  if (!wiring.description.empty())
    out += "  description: " + yaml_scalar(wiring.description) + '\n';
  out += section_text("model", wiring.model, model_params(), "  ", origins);
  out += section_text("prompt", wiring.prompt, prompt_params(), "  ", origins);
  out += "  actors:\n";
  for (const graph_node& node : wiring.nodes)
    out += node_text(node, kinds, origins);
  out += wiring.edges.empty() ? "  edges: []\n" : "  edges:\n";
  for (const graph_edge& edge : wiring.edges)
    out += "    - {from: " + yaml_scalar(edge.from_node + '.' + edge.from_port)
           + ", to: " + yaml_scalar(edge.to_node + '.' + edge.to_port)
           + ", credit: " + std::to_string(edge.credit) + "}"
           + origin_text(edge.credit_origin, origins) + '\n';
  return out;
}

} // namespace kvloom::graphs
