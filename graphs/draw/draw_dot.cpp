#include "graphs/check/load_run.hpp"
#include "graphs/draw/labels.hpp"

namespace kvloom::graphs {

namespace {

/// A quoted DOT identifier or label; backslashes stay literal.
std::string dot_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

/// A label of several left-justified lines.
std::string dot_label(const std::string& title,
                      const std::vector<std::string>& lines) {
  std::string out = dot_quoted(title);
  out.pop_back();
  if (!lines.empty()) out += "\\n";
  for (const std::string& line : lines) {
    const std::string quoted = dot_quoted(line);
    out += quoted.substr(1, quoted.size() - 2) + "\\l";
  }
  return out + '"';
}

} // namespace

std::string draw_dot(const graph& wiring) {
  std::string out = "digraph " + dot_quoted(wiring.name) + " {\n"
                    + "  rankdir=LR;\n"
                      "  node [shape=box, style=rounded, "
                      "fontname=\"sans-serif\"];\n"
                      "  edge [fontname=\"sans-serif\", fontsize=10];\n";
  for (const graph_node& node : wiring.nodes)
    out += "  " + dot_quoted(node.name) + " [label="
           + dot_label(node.name + " : " + node.kind, node_details(node))
           + "];\n";
  for (const graph_edge& edge : wiring.edges)
    out += "  " + dot_quoted(edge.from_node) + " -> " + dot_quoted(edge.to_node)
           + " [taillabel=" + dot_quoted(edge.from_port)
           + ", headlabel=" + dot_quoted(edge.to_port) + ", label="
           + dot_quoted("credit " + std::to_string(edge.credit)) + "];\n";
  return out + "}\n";
}

} // namespace kvloom::graphs
