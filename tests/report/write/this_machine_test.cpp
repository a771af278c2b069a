#include "report/write/run_folder.hpp"

#include <gtest/gtest.h>

namespace kvloom::report {
namespace {

TEST(add_this_machine, says_what_ran_where) {
  run_manifest manifest;
  manifest.machine["kept"] = "x";
  add_this_machine(manifest);
  for (const auto* name :
       {"kept", "hardware_threads", "memory_bytes", "kernel"})
    EXPECT_FALSE(manifest.machine[name].empty()) << name;
  EXPECT_EQ(manifest.versions["binary_sha256"].size(), 64U);
  EXPECT_FALSE(manifest.versions["kvloom"].empty());
}

} // namespace
} // namespace kvloom::report
