#include "actors/wiring/run.hpp"
#include "examples/own_actor/reranker.hpp"
#include "tests/actors/run_plans.hpp"
#include "tests/actors/scripted_model.hpp"

#include <gtest/gtest.h>

using namespace kvloom;
using namespace kvloom::actors;
using namespace kvloom::test;

TEST(own_actor, orders_by_rank_from_both_ends) {
  const auto data = some_questions(1, 5);
  retrieved chosen;
  for (const auto& one : data->questions[0].passages) {
    chosen.passages.emplace_back(data, &one);
    chosen.ranking.push_back({one.index, 0});
  }
  const auto indices = [](const retrieved& all) {
    std::vector<std::uint32_t> out;
    for (const auto& one : all.passages) out.push_back(one->index);
    return out;
  };
  using list = std::vector<std::uint32_t>;
  EXPECT_EQ(indices(examples::to_the_edges(chosen, 9)), (list{0, 2, 4, 3, 1}));
  EXPECT_EQ(indices(examples::to_the_edges(chosen, 3)), (list{0, 2, 1}));
  EXPECT_EQ(indices(examples::to_the_edges(chosen, 1)), list{0});
  EXPECT_TRUE(indices(examples::to_the_edges({}, 3)).empty());
}

TEST(own_actor, runs_in_a_graph) {
  const auto data = some_questions(5, 4);
  node_registry nodes;
  register_builtin_nodes(nodes);
  nodes.add(memory_source(data));
  ASSERT_TRUE(nodes.add(examples::edge_reranker_type()));
  const auto plan = chain(nodes,
                          {{"questions", "questions_in_memory"},
                           {"retriever", "retriever"},
                           {"reranker", "edge_reranker"},
                           {"prefiller", "prefiller"},
                           {"decoder", "decoder"},
                           {"results", "recorder"}},
                          {{"retriever.order", std::string("original")},
                           {"reranker.keep", std::int64_t{3}}});
  const scratch_folder scratch;
  const auto model = std::make_shared<scripted_model>(scripted_options{});
  run_environment environment;
  environment.output = scratch / "run";
  environment.load_model
      = [&](const graphs::graph&) -> result<std::shared_ptr<language_model>> {
    return model;
  };
  const auto outcome = run_plan_to_end(plan, nodes, environment);
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  ASSERT_EQ(outcome->results.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& asked = data->questions[i];
    const auto prompt = scripted_prompt(asked, {asked.passages[0].text,
                                                asked.passages[2].text,
                                                asked.passages[1].text});
    EXPECT_EQ(outcome->results[i].answer, model->expected_answer(prompt, 32));
  }
}
