// Damaged graphs end in a run or in problems with places; and what loads
// loads again from its resolved file.
#include "tests/graphs/support/files.hpp"

#include <random>

namespace kvloom::graphs {
namespace {

class damaged : public run_files {};

TEST_F(damaged, graphs_load_or_say_where_and_why) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return random() % n; };
  const std::vector<std::string> pieces{"{",
                                        "}",
                                        "[",
                                        "]",
                                        ": ",
                                        ", ",
                                        "\n",
                                        "  ",
                                        "-",
                                        "&a ",
                                        "*a",
                                        "\"",
                                        "'",
                                        "#",
                                        "null",
                                        "no",
                                        "007",
                                        "\xc3\xa9",
                                        "top_k",
                                        "type: store",
                                        "a.b",
                                        "kvloom/graph/2",
                                        "99999999999999999999",
                                        "credit: 3",
                                        "\xff",
                                        "1e3"};
  int n_loaded = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = sound_graph;
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      const std::size_t at = below(text.size());
      if (below(2) == 0) text.erase(at, below(12));
      if (below(3) != 0)
        text.insert(std::min(at, text.size()), pieces[below(pieces.size())]);
    }
    write("g.yaml", text);
    const auto plan = load("g.yaml");
    if (!plan) {
      EXPECT_FALSE(plan.error().empty());
      for (const auto& one : plan.error()) {
        EXPECT_EQ(one.place.file, (folder_ / "g.yaml").string()) << text;
        EXPECT_GT(one.place.line, 0) << to_string(one) << '\n' << text;
        EXPECT_EQ(to_string(one).find('\n'), std::string::npos);
      }
      continue;
    }
    ++n_loaded;
    write("r.yaml", plan->resolved_yaml);
    EXPECT_TRUE(load("r.yaml")) << text << problems("r.yaml");
  }
  EXPECT_GT(n_loaded, 20);
}

} // namespace
} // namespace kvloom::graphs
