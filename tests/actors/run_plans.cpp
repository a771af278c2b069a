#include "tests/actors/run_plans.hpp"

#include "actors/nodes/question_source.hpp"
#include "core/base/clock.hpp"

#include <fstream>
#include <random>

namespace kvloom::test {

using actors::node_registry;

std::shared_ptr<datasets::dataset> some_questions(std::size_t n,
                                                  std::size_t passages) {
  auto data = std::make_shared<datasets::dataset>();
  data->path = "in memory";
  data->sha256 = std::string(64, '0');
  for (std::size_t i = 0; i < n; ++i) {
    question one;
    one.id = "q" + std::to_string(i);
    one.row = i;
    one.text = "What is number " + std::to_string(i) + "?";
    one.golds = {"gold " + std::to_string(i)};
    for (std::size_t j = 0; j < passages; ++j)
      one.passages.push_back({static_cast<std::uint32_t>(j),
                              "",
                              "",
                              "Passage " + std::to_string(j) + " of number "
                                  + std::to_string(i) + ".",
                              {}});
    data->questions.push_back(std::move(one));
  }
  return data;
}

actors::request_ptr a_request(const std::shared_ptr<datasets::dataset>& data,
                              std::size_t place, std::int64_t deadline_ns) {
  const auto now = now_ns();
  return std::make_shared<const actors::open_request>(actors::open_request{
      {place, 0, false, {data, &data->questions.at(place)}},
      now,
      now + deadline_ns});
}

graphs::run_plan
chain(const node_registry& nodes,
      const std::vector<std::pair<std::string, std::string>>& members,
      const values& set, std::int64_t credit) {
  graphs::run_plan plan;
  plan.name = "test";
  plan.graph_file = "test.yaml";
  plan.resolved_yaml = "schema: kvloom/graph/1\n";
  plan.wiring.name = "test";
  for (const auto& [name, kind] : members) {
    graphs::graph_node node;
    node.name = name;
    node.kind = kind;
    node.where = {"test.yaml", 1, 1};
    for (const auto& spec : nodes.find(kind)->kind.params) {
      const auto given = set.find(name + "." + spec.name);
      if (given != set.end())
        node.params.set(spec.name, {given->second, {}});
      else if (spec.fallback)
        node.params.set(spec.name, {*spec.fallback, {}});
    }
    plan.wiring.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    graphs::graph_edge edge;
    edge.from_node = members[i - 1].first;
    edge.from_port = nodes.find(members[i - 1].second)->kind.outputs[0].name;
    edge.to_node = members[i].first;
    edge.to_port = nodes.find(members[i].second)->kind.inputs[0].name;
    edge.credit = credit;
    plan.wiring.edges.push_back(std::move(edge));
  }
  return plan;
}

graphs::run_plan usual_chain(const node_registry& nodes, const values& set,
                             std::int64_t credit) {
  return chain(nodes,
               {{"questions", "questions_in_memory"},
                {"retriever", "retriever"},
                {"prefiller", "prefiller"},
                {"decoder", "decoder"},
                {"results", "recorder"}},
               set, credit);
}

actors::node_type memory_source(std::shared_ptr<const datasets::dataset> data) {
  auto type = actors::question_source_type();
  type.kind.name = "questions_in_memory";
  std::erase_if(type.kind.params, [](const configs::param_spec& spec) {
    return spec.name == "path";
  });
  type.prepare
      = [data = std::move(data)](
            const graphs::graph_node& node,
            actors::prepare_context& context) -> result<actors::node_spawner> {
    return actors::source_of(data, node.params, context);
  };
  return type;
}

scratch_folder::scratch_folder() {
  std::random_device dice;
  path_ = std::filesystem::temp_directory_path()
          / ("kvloom-test-" + std::to_string(dice()) + std::to_string(dice()));
  std::filesystem::create_directories(path_);
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

} // namespace kvloom::test
