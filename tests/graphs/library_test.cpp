// The graphs and experiments that ship load as they are.
#include "graphs/check/load_run.hpp"
#include "tests/graphs/support/kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace kvloom::graphs {
namespace {

std::string problems_of(const std::filesystem::path& path) {
  const auto plan = load_run({path, {}, {}}, test_kinds());
  return plan ? "" : configs::to_error(plan.error()).message;
}

TEST(library, every_graph_is_right) {
  int n_files = 0;
  const std::filesystem::path folder = KVLOOM_SOURCE_DIR "/graphs/library";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++n_files;
    EXPECT_EQ(problems_of(entry.path()), "");
  }
  EXPECT_GT(n_files, 0);
}

TEST(library, the_demo_is_right_and_its_data_is_there) {
  const std::filesystem::path path = KVLOOM_SOURCE_DIR "/configs/demo.yaml";
  ASSERT_EQ(problems_of(path), "");
  const auto plan = load_run({path, {}, {}}, test_kinds());
  EXPECT_EQ(plan->name, "demo");
  EXPECT_TRUE(std::filesystem::is_regular_file(
      plan->wiring.find("questions")->params.text("path")));
  // Where scripts/setup links the model.
  const auto model = std::filesystem::path(plan->wiring.model.text("path"));
  EXPECT_EQ(model.lexically_normal(),
            std::filesystem::path(KVLOOM_SOURCE_DIR)
                / "models/smollm2-135m-instruct.gguf");
}

} // namespace
} // namespace kvloom::graphs
