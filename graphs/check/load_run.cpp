#include "graphs/check/load_run.hpp"

#include "configs/read/override_text.hpp"
#include "configs/read/yaml_reader.hpp"
#include "configs/schema/quote.hpp"
#include "graphs/check/checks.hpp"
#include "graphs/check/experiment_file.hpp"
#include "graphs/check/graph_file.hpp"
#include "graphs/check/parameters.hpp"
#include "graphs/check/resolved_yaml.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kvloom::graphs {

namespace {

using configs::diagnostics;
using configs::origin_layer;
using configs::yaml_ptr;
namespace fs = std::filesystem;

class loader {
public:
  loader(const run_request& request, const kind_catalogue& kinds)
      : request_(request), kinds_(kinds), book_(problems_) {}

  tl::expected<run_plan, diagnostics> run() {
    files_.push_back(request_.file.string());
    if (read_files()) {
      declare();
      apply_layers();
      check();
      if (problems_.empty()) return plan();
    } else if (has_experiment_ && experiment_.root) {
      // What does not depend on the graph is checked all the same.
      book_.declare({"", "", experiment_.root->place, &run_params()});
      book_.apply_mapping("", *experiment_.root, origin_layer::experiment, {},
                          true);
    }
    sort_problems();
    return tl::unexpected<diagnostics>(problems_);
  }

private:
  bool read_files() {
    const yaml_ptr root = read(request_.file);
    if (!root) return false;
    graph_path_ = request_.file;
    if (!is_experiment(*root)) return read_graph_root(*root);
    has_experiment_ = true;
    // Another version has other keys: nothing more can be said about it.
    if (!check_schema(*root, experiment_schema, problems_)
        && root->find("schema") != nullptr)
      return false;
    experiment_ = read_experiment(root, problems_);
    if (experiment_.inline_graph)
      return read_graph_root(*experiment_.inline_graph);
    if (experiment_.graph.empty()) return false;
    graph_path_
        = (request_.file.parent_path() / experiment_.graph).lexically_normal();
    files_.push_back(graph_path_.string());
    const std::size_t before = problems_.size();
    const yaml_ptr graph = read(graph_path_);
    if (!graph) {
      // A file that isn't there is the fault of the line that names it.
      for (std::size_t i = before; i < problems_.size(); ++i)
        if (problems_[i].place.line == 0) {
          problems_[i].message
              = graph_path_.string() + ": " + problems_[i].message;
          problems_[i].place = experiment_.graph_place;
          problems_[i].key_path = "graph";
        }
      return false;
    }
    return read_graph_root(*graph);
  }

  yaml_ptr read(const fs::path& path) {
    configs::yaml_document document = configs::read_yaml_file(path);
    problems_.insert(problems_.end(), document.problems.begin(),
                     document.problems.end());
    if (!document.root) return nullptr;
    const bool mapping = configs::expect_mapping(
        *document.root, {}, "a mapping that begins with `schema`", problems_);
    return mapping ? document.root : nullptr;
  }

  /// Told by `schema`; a file without a telling one counts as a graph.
  static bool is_experiment(const configs::yaml_node& root) {
    const auto* entry = root.find("schema");
    const std::string text = entry == nullptr ? "" : entry->value->text;
    constexpr std::string_view family = "kvloom/experiment";
    if (std::string_view(text).substr(0, family.size()) == family) return true;
    // Without a telling schema the keys tell.
    return text.rfind("kvloom/graph", 0) != 0 && root.find("actors") == nullptr
           && root.find("graph") != nullptr;
  }

  bool read_graph_root(const configs::yaml_node& root) {
    if (!check_schema(root, graph_schema, problems_)
        && root.find("schema") != nullptr)
      return false;
    graph_ = read_graph(root, problems_);
    return true;
  }

  void declare() {
    const auto section = [&](const char* name, const yaml_ptr& node,
                             const std::vector<configs::param_spec>& specs) {
      book_.declare({name, name, node ? node->place : graph_.where, &specs});
    };
    section("model", graph_.model, model_params());
    section("prompt", graph_.prompt, prompt_params());
    book_.declare({"", "", graph_.where, &run_params()});
    for (const written_actor& actor : graph_.actors) {
      const actor_kind* kind = kinds_.find(actor.kind);
      book_.declare({actor.name, "actors." + actor.name + ".params",
                     actor.name_place,
                     kind == nullptr ? nullptr : &kind->params});
    }
  }

  void apply_layers() {
    const fs::path folder = graph_path_.parent_path();
    const auto mapping = [&](const std::string& owner, const yaml_ptr& node) {
      if (node) book_.apply_mapping(owner, *node, origin_layer::graph, folder);
    };
    mapping("model", graph_.model);
    mapping("prompt", graph_.prompt);
    for (const written_actor& actor : graph_.actors)
      if (actor.name != "model" && actor.name != "prompt")
        mapping(actor.name, actor.params);
    if (has_experiment_) {
      const fs::path own = request_.file.parent_path();
      book_.apply_mapping("", *experiment_.root, origin_layer::experiment, own,
                          true);
      for (const written_setting& setting : experiment_.set)
        book_.apply_setting(setting, own);
    }
    for (const auto& one : configs::read_environment(
             request_.environment, book_.targets(), problems_))
      book_.apply_text(one, origin_layer::environment, {});
    for (const auto& one : configs::read_set_options(request_.set, problems_))
      book_.apply_text(one, origin_layer::command_line, {});
    book_.check_missing();
  }

  void check() {
    check_kinds(graph_, kinds_, problems_);
    check_placement(graph_, problems_);
    const std::size_t before = problems_.size();
    check_edges(graph_, kinds_, problems_);
    // Paths mean nothing while edges are in doubt.
    if (problems_.size() != before) return;
    for (const written_edge& edge : graph_.edges)
      if (!edge.whole) return;
    check_cycles(graph_, kinds_, problems_);
    check_reach(graph_, kinds_, problems_);
  }

  run_plan plan() {
    run_plan out;
    out.graph_file = graph_path_;
    if (has_experiment_) out.experiment_file = request_.file;
    out.name = experiment_.name.empty() ? graph_.name : experiment_.name;
    const configs::resolved_params& run = book_.of("");
    out.repeat = run.integer("repeat");
    out.warmup = run.integer("warmup");
    out.seed = static_cast<std::uint64_t>(run.integer("seed"));
    graph& wiring = out.wiring;
    wiring.name = graph_.name;
    wiring.description = graph_.description;
    wiring.model = book_.of("model");
    wiring.prompt = book_.of("prompt");
    for (const written_actor& actor : graph_.actors) {
      graph_node node{actor.name,  actor.kind,       book_.of(actor.name),
                      actor.place, actor.name_place, {}};
      for (const auto& [key, given] : actor.placed)
        node.place_origins[key] = {origin_layer::graph, to_string(given.place)};
      wiring.nodes.push_back(std::move(node));
    }
    for (const written_edge& edge : graph_.edges)
      wiring.edges.push_back(wired(edge));
    out.resolved_yaml = write_resolved(out, run, kinds_, with_origins::yes);
    out.values_yaml = write_resolved(out, run, kinds_, with_origins::no);
    return out;
  }

  static graph_edge wired(const written_edge& edge) {
    graph_edge out;
    out.from_node = edge.from_node;
    out.from_port = edge.from_port;
    out.to_node = edge.to_node;
    out.to_port = edge.to_port;
    out.where = edge.where;
    out.credit = std::get<std::int64_t>(*edge_params().front().fallback);
    if (edge.credit) {
      out.credit = std::get<std::int64_t>(edge.credit->value);
      out.credit_origin = {origin_layer::graph, to_string(edge.credit->place)};
    }
    return out;
  }

  /// Files in the order they were read, then what came from outside.
  void sort_problems() {
    const auto rank = [&](const configs::diagnostic& one) {
      const auto found
          = std::find(files_.begin(), files_.end(), one.place.file);
      const bool outside = found == files_.end();
      return std::make_tuple(found - files_.begin(),
                             outside ? 0 : one.place.line,
                             outside ? 0 : one.place.column);
    };
    std::stable_sort(
        problems_.begin(), problems_.end(),
        [&](const configs::diagnostic& a, const configs::diagnostic& b) {
          return rank(a) < rank(b);
        });
  }

  const run_request& request_;
  const kind_catalogue& kinds_;
  diagnostics problems_;
  parameter_book book_;
  std::vector<std::string> files_;
  fs::path graph_path_;
  bool has_experiment_ = false;
  written_experiment experiment_;
  written_graph graph_;
};

} // namespace

tl::expected<run_plan, configs::diagnostics>
load_run(const run_request& request, const kind_catalogue& kinds) {
  return loader(request, kinds).run();
}

} // namespace kvloom::graphs
