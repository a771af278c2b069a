// Files and runs for the tests of graphs.
#pragma once

#include "graphs/check/load_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// A sound graph of five actors, as a YAML text.
extern const std::string sound_graph;

/// A copy of `text` with the first `from` replaced; fails without one.
std::string changed(std::string text, const std::string& from,
                    const std::string& to);

/// A folder of its own; places in messages are relative to it.
class run_files : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  void write(const std::string& name, const std::string& text);

  tl::expected<run_plan, configs::diagnostics>
  load(const std::string& name, std::vector<std::string> set = {},
       std::map<std::string, std::string> environment = {}) const;

  /// All problems, a line each, without the folder in front; empty if none.
  std::string
  problems(const std::string& name, std::vector<std::string> set = {},
           std::map<std::string, std::string> environment = {}) const;

  /// Problems of a graph of this text.
  std::string graph_problems(const std::string& text);

  std::filesystem::path folder_;
};

} // namespace kvloom::graphs
