#include "tests/graphs/support/files.hpp"

namespace kvloom::graphs {
namespace {

class place : public run_files {
protected:
  std::string with(const std::string& text) {
    return graph_problems(changed(sound_graph, "{type: prefiller}",
                                  "{type: prefiller, place: " + text + "}"));
  }
};

TEST_F(place, cpu_and_auto_are_fine) {
  EXPECT_EQ(with("{device: cpu, threads: 0, replicas: 1, node: \"\"}"), "");
  EXPECT_EQ(with("{device: auto}"), "");
  EXPECT_EQ(load("g.yaml")->wiring.find("prefiller")->place.device, "auto");
}

TEST_F(place, what_this_build_lacks_is_refused_by_name) {
  EXPECT_EQ(with("{device: \"cuda:0\"}"),
            "g.yaml:7:48: actors.prefiller.place.device: found `cuda:0`; this "
            "build runs on the devices cpu and auto (the CPU) only\n");
  EXPECT_NE(with("{node: other}").find("found the host `other`"),
            std::string::npos);
  EXPECT_NE(with("{threads: 2}").find("set model.threads"), std::string::npos);
  EXPECT_NE(with("{replicas: 2}").find("one copy of an actor"),
            std::string::npos);
}

TEST_F(place, keys_and_ranges_are_checked) {
  EXPECT_NE(with("{devise: cpu}").find("did you mean `device`"),
            std::string::npos);
  EXPECT_NE(with("{threads: -1}").find("out of range"), std::string::npos);
  EXPECT_NE(with("cpu").find("wanted a mapping"), std::string::npos);
}

} // namespace
} // namespace kvloom::graphs
