#include "actors/wiring/registry.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace kvloom;
using namespace kvloom::actors;

TEST(node_registry, takes_a_name_once) {
  node_registry nodes;
  register_builtin_nodes(nodes);
  EXPECT_EQ(nodes.all().size(), 5u);
  node_type again;
  again.kind.name = "retriever";
  EXPECT_FALSE(nodes.add(again));
  EXPECT_NE(nodes.find("retriever")->prepare, nullptr);
  EXPECT_EQ(nodes.find("nobody"), nullptr);
}

// What users read in `kvloom actors` and in error messages.
TEST(node_registry, every_declaration_is_whole) {
  node_registry nodes;
  register_builtin_nodes(nodes);
  const auto kinds = kinds_of(nodes);
  EXPECT_EQ(kinds.all().size(), nodes.all().size());
  for (const auto& [name, kind] : kinds.all()) {
    EXPECT_FALSE(kind.help.empty()) << name;
    EXPECT_TRUE(kind.source || !kind.inputs.empty()) << name;
    EXPECT_TRUE(kind.sink || !kind.outputs.empty()) << name;
    for (const auto* ports : {&kind.inputs, &kind.outputs})
      for (const auto& port : *ports) {
        EXPECT_FALSE(port.payload.empty()) << name << "." << port.name;
        EXPECT_FALSE(port.help.empty()) << name << "." << port.name;
      }
    std::set<std::string> seen;
    for (const auto& spec : kind.params) {
      EXPECT_TRUE(seen.insert(spec.name).second) << name << "." << spec.name;
      EXPECT_FALSE(spec.help.empty()) << name << "." << spec.name;
      EXPECT_EQ(spec.help.back(), '.') << name << "." << spec.name;
    }
  }
}
