// Strict reading of YAML: what is ambiguous or silently lossy is an error.
//
// Refused by name: duplicate keys (with both places), merge keys `<<`, tags,
// keys that are no text, several documents, text that is not UTF-8, control
// characters, nesting deeper than 64, aliases of a node that holds them,
// more than 100,000 nodes once aliases are unfolded, files above 4 MiB.
// Anchors and aliases work. A UTF-8 byte order mark is skipped.
#pragma once

#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace kvloom::configs {

struct yaml_document {
  yaml_ptr root;        ///< null where the text could not be parsed
  diagnostics problems; ///< may be non-empty beside a root
};

/// `file` is the name that places carry. Columns count characters.
yaml_document read_yaml(std::string_view text, const std::string& file);

/// Reads the file whole; a missing, unreadable, huge or special file is a
/// problem of the document.
yaml_document read_yaml_file(const std::filesystem::path& path);

} // namespace kvloom::configs
