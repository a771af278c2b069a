#include "graphs/check/load_run.hpp"
#include "graphs/draw/labels.hpp"
#include "graphs/draw/layers.hpp"

#include <algorithm>

namespace kvloom::graphs {

namespace {

std::string repeated(const char* piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::string count_text(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

/// Lines of a box: details, then a line an edge.
std::vector<std::string>
box_lines(const graph& wiring, const graph_layers& layers, std::size_t node) {
  std::vector<std::string> lines;
  for (std::size_t e = 0; e < wiring.edges.size(); ++e) {
    const graph_edge& edge = wiring.edges[e];
    if (layers.to[e] == node)
      lines.push_back("> " + edge.to_port + "  from " + edge.from_node + '.'
                      + edge.from_port);
  }
  for (std::string& detail : node_details(wiring.nodes[node]))
    lines.push_back("  " + std::move(detail));
  for (std::size_t e = 0; e < wiring.edges.size(); ++e) {
    const graph_edge& edge = wiring.edges[e];
    if (layers.from[e] == node)
      lines.push_back("< " + edge.from_port + "  to " + edge.to_node + '.'
                      + edge.to_port + "  credit " + std::to_string(edge.credit)
                      + (layers.backward[e] ? "  (back)" : ""));
  }
  return lines;
}

std::string box(const std::string& title,
                const std::vector<std::string>& lines) {
  std::size_t width = n_characters(title) + 2;
  for (const std::string& line : lines)
    width = std::max(width, n_characters(line));
  std::string out = "  \u250c\u2500 " + title + ' '
                    + repeated("\u2500", width - n_characters(title) - 1)
                    + "\u2510\n";
  for (const std::string& line : lines)
    out += "  \u2502 " + line + std::string(width - n_characters(line), ' ')
           + " \u2502\n";
  return out + "  \u2514" + repeated("\u2500", width + 2) + "\u2518\n";
}

} // namespace

std::string draw_text(const graph& wiring) {
  const graph_layers layers = layers_of(wiring);
  std::string out = wiring.name + ": "
                    + count_text(wiring.nodes.size(), "actor") + ", "
                    + count_text(wiring.edges.size(), "edge") + '\n';
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    out += i == 0 ? "\n" : "         \u2502\n         \u25bc\n";
    for (const std::size_t node : layers.layers[i])
      out += box(wiring.nodes[node].name + " : " + wiring.nodes[node].kind,
                 box_lines(wiring, layers, node));
  }
  return out;
}

} // namespace kvloom::graphs
