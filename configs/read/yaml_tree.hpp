// A YAML document as plain values with places: all that the rest of kvloom
// sees of YAML.
#pragma once

#include "configs/schema/diagnostic.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::configs {

struct yaml_node;

/// Shared, since an alias names the node of its anchor; never null inside a
/// tree, and free of cycles.
using yaml_ptr = std::shared_ptr<const yaml_node>;

struct yaml_entry {
  std::string key;
  source_place key_place;
  yaml_ptr value;
};

enum class yaml_kind : std::uint8_t { null, scalar, sequence, mapping };

struct yaml_node {
  yaml_kind kind = yaml_kind::null;
  source_place place;
  std::string text;    ///< of a scalar
  bool quoted = false; ///< scalar in quotes or a block: text, nothing else
  std::vector<yaml_ptr> items;     ///< of a sequence
  std::vector<yaml_entry> entries; ///< of a mapping, keys distinct
  std::size_t weight = 1;          ///< nodes below and itself, aliases unfolded

  /// The entry of a mapping, or null.
  const yaml_entry* find(const std::string& key) const;
};

/// `the text X`, `a list`, `a mapping`, `nothing`: for messages.
std::string describe(const yaml_node& node);

} // namespace kvloom::configs
