#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class cycles : public run_files {
protected:
  /// The sound graph with `n` more actors of a kind in a ring.
  static std::string ring(const std::string& kind, const std::string& in,
                          const std::string& out, int n) {
    std::string actors, edges;
    for (int i = 0; i < n; ++i) {
      const std::string name = "x" + std::to_string(i);
      actors += "  " + name + ": {type: " + kind + "}\n";
      edges += "  - {from: " + name + '.' + out + ", to: x"
               + std::to_string((i + 1) % n) + '.' + in + "}\n";
    }
    return changed(sound_graph, "edges:\n", actors + "edges:\n") + edges;
  }
};

TEST_F(cycles, are_refused_with_their_path) {
  const std::string out = graph_problems(ring("wanderer", "in", "out", 3));
  EXPECT_NE(out.find("g.yaml:20:5: edges[6]: closes the cycle x0 -> x1 -> x2 "
                     "-> x0, on which no actor may wait for its own output; "
                     "remove one of its edges"),
            std::string::npos)
      << out;
}

TEST_F(cycles, may_run_through_kinds_that_break_them) {
  EXPECT_EQ(graph_problems(ring("store", "ask", "told", 3)).find("cycle"),
            std::string::npos);
}

TEST_F(cycles, a_diamond_is_none) {
  const std::string text
      = changed(sound_graph, "edges:\n",
                "  a: {type: wanderer}\n  b: {type: wanderer}\n"
                "  c: {type: wanderer}\n  d: {type: wanderer}\nedges:\n")
        + "  - {from: a.out, to: b.in}\n  - {from: a.out, to: c.in}\n"
          "  - {from: b.out, to: d.in}\n  - {from: c.out, to: d.in}\n";
  EXPECT_EQ(graph_problems(text).find("cycle"), std::string::npos);
}

TEST_F(cycles, long_rings_need_no_stack) {
  const std::string out = graph_problems(ring("wanderer", "in", "out", 1000));
  EXPECT_NE(out.find("closes the cycle x0 -> x1 -> "), std::string::npos);
}

} // namespace
} // namespace kvloom::graphs
