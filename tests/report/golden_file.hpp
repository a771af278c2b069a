// Golden files of the report tests.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace kvloom::report {

inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(KVLOOM_SOURCE_DIR "/tests/data/report/")
                     + name);
  EXPECT_TRUE(file.good()) << name;
  return nlohmann::json::parse(file);
}

} // namespace kvloom::report
