#include "graphs/check/resolved_yaml.hpp"
#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

/// Without comments, which name other origins the second time.
std::string values_of(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    const std::size_t comment = line.find("  # ");
    if (comment != std::string::npos) line.resize(comment);
    out += line + '\n';
    at = end + 1;
  }
  return out;
}

bool same_values(const configs::resolved_params& a,
                 const configs::resolved_params& b) {
  if (a.all().size() != b.all().size()) return false;
  for (const auto& [name, value] : a.all())
    if (!b.has(name) || b.all().at(name).value != value.value) return false;
  return true;
}

void expect_same(const run_plan& a, const run_plan& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.repeat, b.repeat);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.wiring.name, b.wiring.name);
  EXPECT_EQ(a.wiring.description, b.wiring.description);
  EXPECT_TRUE(same_values(a.wiring.model, b.wiring.model));
  EXPECT_TRUE(same_values(a.wiring.prompt, b.wiring.prompt));
  ASSERT_EQ(a.wiring.nodes.size(), b.wiring.nodes.size());
  for (std::size_t i = 0; i < a.wiring.nodes.size(); ++i) {
    const graph_node &one = a.wiring.nodes[i], &other = b.wiring.nodes[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.place.device, other.place.device);
    EXPECT_EQ(one.place.node, other.place.node);
    EXPECT_EQ(one.place.replicas, other.place.replicas);
    EXPECT_EQ(one.place.threads, other.place.threads);
    EXPECT_TRUE(same_values(one.params, other.params)) << one.name;
  }
  ASSERT_EQ(a.wiring.edges.size(), b.wiring.edges.size());
  for (std::size_t i = 0; i < a.wiring.edges.size(); ++i) {
    const graph_edge &one = a.wiring.edges[i], &other = b.wiring.edges[i];
    EXPECT_EQ(one.from_node + '.' + one.from_port,
              other.from_node + '.' + other.from_port);
    EXPECT_EQ(one.to_node + '.' + one.to_port,
              other.to_node + '.' + other.to_port);
    EXPECT_EQ(one.credit, other.credit);
  }
}

class resolved : public run_files {
protected:
  std::vector<std::string> hostile_{
      "retriever.label=\"no: # \\\"x\\\" \\n\\t\\\\ \xe2\x80\xa8 caf\xc3\xa9\"",
      "retriever.words=[\"a,b\", \"\", \"]\", \"#\", \"no\", 007, \" x \"]",
      "retriever.weights=[0, 0.1, 1e-300]",
      "prefiller.memory=1000001",
      "prefiller.exact=false",
      "questions.deadline=90s",
      "questions.path=/a b/#c: d's \"e\"\n.json",
      "decoder.temperature=0.30000000000000004",
      "prompt.question_before=",
      "prompt.system=~",
      "seed=9007199254740992"};
};

TEST_F(resolved, reads_back_as_the_same_run) {
  write("g.yaml",
        changed(changed(sound_graph, "name: small",
                        "name: \"007\"\ndescription: \"a: # b\\nc\""),
                "{type: prefiller}",
                "{type: prefiller, place: {device: auto, threads: 0}}"));
  write("e.yaml", "schema: kvloom/experiment/1\ngraph: g.yaml\nname: no\n"
                  "repeat: 2\nwarmup: 1\n");
  const auto first = load("e.yaml", hostile_);
  ASSERT_TRUE(first) << problems("e.yaml", hostile_);
  write("far/away/r.yaml", first->resolved_yaml);
  const auto second = load("far/away/r.yaml");
  ASSERT_TRUE(second) << problems("far/away/r.yaml") << first->resolved_yaml;
  expect_same(*first, *second);
  EXPECT_EQ(values_of(first->resolved_yaml), values_of(second->resolved_yaml));
  // Written to the same place it is the same file, origins and all.
  write("far/away/r.yaml", second->resolved_yaml);
  const auto third = load("far/away/r.yaml");
  ASSERT_TRUE(third);
  EXPECT_EQ(second->resolved_yaml, third->resolved_yaml);
}

TEST_F(resolved, a_plain_graph_becomes_an_experiment) {
  write("g.yaml", sound_graph);
  const auto first = load("g.yaml");
  ASSERT_TRUE(first);
  write("r.yaml", first->resolved_yaml);
  const auto second = load("r.yaml");
  ASSERT_TRUE(second) << problems("r.yaml");
  expect_same(*first, *second);
}

TEST_F(resolved, every_value_has_its_origin) {
  write("g.yaml", sound_graph);
  write("e.yaml", "schema: kvloom/experiment/1\ngraph: g.yaml\nseed: 7\n");
  const auto plan = load("e.yaml", {"decoder.temperature=0.5"},
                         {{"KVLOOM_PREFILLER__MODE", "reuse"}});
  ASSERT_TRUE(plan);
  const std::string folder = folder_.string();
  for (const std::string& line : std::vector<std::string>{
           "seed: 7  # experiment " + folder + "/e.yaml:3:7\n",
           "repeat: 1  # default\n", "        device: cpu  # default\n",
           "        top_k: 2  # graph " + folder + "/g.yaml:6:48\n",
           "        mode: reuse  # environment KVLOOM_PREFILLER__MODE\n",
           "        temperature: 0.5  # command line --set "
           "decoder.temperature=0.5\n",
           "credit: 8}  # graph " + folder + "/g.yaml:11:64\n",
           "credit: 4}  # default\n"})
    EXPECT_NE(plan->resolved_yaml.find(line), std::string::npos)
        << line << plan->resolved_yaml;
}

TEST_F(resolved, may_be_overridden_again) {
  write("g.yaml", sound_graph);
  write("r.yaml", load("g.yaml")->resolved_yaml);
  const auto plan = load("r.yaml", {"retriever.top_k=9", "seed=4"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->wiring.find("retriever")->params.integer("top_k"), 9);
  EXPECT_EQ(plan->seed, 4U);
}

TEST_F(resolved, problems_inside_have_their_places) {
  write("g.yaml", sound_graph);
  write("r.yaml",
        changed(load("g.yaml")->resolved_yaml, "top_k: 2", "top_k: 0"));
  EXPECT_EQ(problems("r.yaml").find("r.yaml:"), 0U);
}

} // namespace
} // namespace kvloom::graphs
