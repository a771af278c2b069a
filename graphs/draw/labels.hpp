// What pictures say about actors and edges.
#pragma once

#include "graphs/model/graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kvloom::graphs {

/// `name = value` of every parameter that is not at its default, shortened;
/// and the place where it is not the usual one.
std::vector<std::string> node_details(const graph_node& node);

/// Cut in the middle to `width` characters.
std::string shortened(const std::string& text, std::size_t width);

/// Characters (code points) of a UTF-8 text.
std::size_t n_characters(std::string_view text);

/// For XML text and attribute values; characters that XML lacks become `?`.
std::string xml_escaped(std::string_view text);

} // namespace kvloom::graphs
