#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class text_picture : public run_files {};

TEST_F(text_picture, shows_actors_ports_and_settings) {
  write("g.yaml", changed(sound_graph, "m.gguf", "/m.gguf"));
  const auto plan = load("g.yaml", {"questions.path=/d.json"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(draw_text(plan->wiring), R"(small: 5 actors, 4 edges

  ┌─ questions : question_source ───────────────┐
  │   path = /d.json                            │
  │ < question  to retriever.question  credit 8 │
  └─────────────────────────────────────────────┘
         │
         ▼
  ┌─ retriever : retriever ─────────────────────┐
  │ > question  from questions.question         │
  │   top_k = 2                                 │
  │ < retrieved  to prefiller.request  credit 4 │
  └─────────────────────────────────────────────┘
         │
         ▼
  ┌─ prefiller : prefiller ───────────────────┐
  │ > request  from retriever.retrieved       │
  │ < prefilled  to decoder.request  credit 4 │
  └───────────────────────────────────────────┘
         │
         ▼
  ┌─ decoder : decoder ───────────────────┐
  │ > request  from prefiller.prefilled   │
  │   max_new_tokens = 6                  │
  │ < answer  to results.answer  credit 4 │
  └───────────────────────────────────────┘
         │
         ▼
  ┌─ results : recorder ──────────┐
  │ > answer  from decoder.answer │
  └───────────────────────────────┘
)");
}

TEST_F(text_picture, takes_an_empty_graph) {
  graph empty;
  empty.name = "none";
  EXPECT_EQ(draw_text(empty), "none: 0 actors, 0 edges\n");
}

} // namespace
} // namespace kvloom::graphs
