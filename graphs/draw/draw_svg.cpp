// A self-contained SVG: layers from left to right, long edges led around the
// boxes between their ends, edges that close cycles below everything.
#include "graphs/check/load_run.hpp"
#include "graphs/draw/labels.hpp"
#include "graphs/draw/layers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace kvloom::graphs {

namespace {

constexpr double margin = 24;
constexpr double column_gap = 110;
constexpr double row_gap = 28;
constexpr double line_height = 17;
constexpr double header_height = 46;
constexpr double lane_height = 26;
constexpr double character_width = 7.4; ///< at 12 px; generous

constexpr const char* style
    = ":root{--back:#ffffff;--box:#f4f6fa;--rim:#5b6b85;--ink:#1b2333;"
      "--soft:#55617a;--edge:#3a6ea5}"
      "@media (prefers-color-scheme:dark){:root{--back:#14181f;--box:#1f2631;"
      "--rim:#8594ad;--ink:#eef2f8;--soft:#aab6c9;--edge:#7db4ee}}"
      "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
      "fill:#1b2333;fill:var(--ink)}"
      ".name{font-weight:bold;font-size:14px}"
      ".soft{fill:#55617a;fill:var(--soft)}"
      ".back{fill:#ffffff;fill:var(--back)}"
      ".box{fill:#f4f6fa;fill:var(--box);stroke:#5b6b85;stroke:var(--rim);"
      "stroke-width:1.2}"
      ".edge{fill:none;stroke:#3a6ea5;stroke:var(--edge);stroke-width:1.6}"
      ".tip{fill:#3a6ea5;fill:var(--edge)}"
      ".credit{font-size:11px;text-anchor:middle;stroke:#ffffff;"
      "stroke:var(--back);stroke-width:4px;paint-order:stroke;"
      "stroke-linejoin:round}";

struct point {
  double x = 0, y = 0;
};

/// A box, or the place where a long edge passes a layer.
struct item {
  std::size_t node = graph_layers::none; ///< none: an edge passes
  double x = 0, y = 0, width = 0, height = 12;
  std::vector<std::size_t> before; ///< items of the layer to the left
};

/// Names of the ports that edges use, in the order of first use.
struct node_ports {
  std::vector<std::string> inputs, outputs;
};

std::size_t index_of(const std::vector<std::string>& names,
                     const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return static_cast<std::size_t>(found - names.begin());
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (index_of(names, name) == names.size()) names.push_back(name);
}

/// Tenths of a pixel, whatever the locale.
std::string number(double value) {
  std::array<char, 32> buffer{};
  const double tenths = std::round(value * 10) / 10;
  const auto end
      = std::to_chars(buffer.data(), buffer.data() + buffer.size(), tenths).ptr;
  return {buffer.data(), end};
}

double text_width(const std::string& text) {
  return static_cast<double>(n_characters(text)) * character_width;
}

class picture {
public:
  explicit picture(const graph& wiring)
      : wiring_(wiring), layers_(layers_of(wiring)),
        ports_(wiring.nodes.size()), chains_(wiring.edges.size()),
        columns_(layers_.layers.size()) {}

  std::string draw() {
    find_ports();
    make_items();
    order_columns();
    place_items();
    std::string edges, boxes;
    for (std::size_t e = 0; e < wiring_.edges.size(); ++e)
      if (layers_.from[e] != graph_layers::none) edges += edge_text(e);
    for (const item& one : items_)
      if (one.node != graph_layers::none) boxes += box_text(one);
    return document(edges + boxes);
  }

private:
  void find_ports() {
    for (std::size_t e = 0; e < wiring_.edges.size(); ++e) {
      if (layers_.from[e] == graph_layers::none) continue;
      add_once(ports_[layers_.from[e]].outputs, wiring_.edges[e].from_port);
      add_once(ports_[layers_.to[e]].inputs, wiring_.edges[e].to_port);
    }
  }

  void make_items() {
    for (std::size_t node = 0; node < wiring_.nodes.size(); ++node) {
      item box;
      box.node = node;
      size_box(box);
      columns_[layers_.layer_of[node]].push_back(items_.size());
      items_.push_back(box);
    }
    for (std::size_t e = 0; e < wiring_.edges.size(); ++e) {
      if (layers_.from[e] == graph_layers::none || layers_.backward[e])
        continue;
      std::size_t last = layers_.from[e];
      chains_[e].push_back(last);
      const std::size_t end = layers_.layer_of[layers_.to[e]];
      for (std::size_t l = layers_.layer_of[last] + 1; l < end; ++l) {
        columns_[l].push_back(items_.size());
        item pass;
        pass.before.push_back(last);
        last = items_.size();
        items_.push_back(pass);
        chains_[e].push_back(last);
      }
      items_[layers_.to[e]].before.push_back(last);
      chains_[e].push_back(layers_.to[e]);
    }
  }

  void size_box(item& box) const {
    const graph_node& node = wiring_.nodes[box.node];
    const node_ports& ports = ports_[box.node];
    double width = std::max(text_width(node.name) * 1.2, text_width(node.kind));
    const auto details = node_details(node);
    for (const std::string& line : details)
      width = std::max(width, text_width(line));
    const std::size_t rows
        = std::max(ports.inputs.size(), ports.outputs.size());
    for (std::size_t i = 0; i < rows; ++i) {
      double both = 24;
      if (i < ports.inputs.size()) both += text_width(ports.inputs[i]);
      if (i < ports.outputs.size()) both += text_width(ports.outputs[i]);
      width = std::max(width, both);
    }
    box.width = width + 24;
    box.height = header_height + 12
                 + line_height * static_cast<double>(details.size() + rows);
  }

  /// Items beside what feeds them (barycentres, two passes).
  void order_columns() {
    std::vector<double> rank(items_.size(), 0);
    for (int pass = 0; pass < 2; ++pass)
      for (auto& column : columns_) {
        std::stable_sort(column.begin(), column.end(),
                         [&](std::size_t a, std::size_t b) {
                           return centre(a, rank) < centre(b, rank);
                         });
        for (std::size_t i = 0; i < column.size(); ++i)
          rank[column[i]] = static_cast<double>(i);
      }
  }

  double centre(std::size_t at, const std::vector<double>& rank) const {
    const auto& before = items_[at].before;
    if (before.empty()) return rank[at];
    const double sum = std::accumulate(
        before.begin(), before.end(), 0.0,
        [&](double total, std::size_t one) { return total + rank[one]; });
    return sum / static_cast<double>(before.size());
  }

  void place_items() {
    double tallest = 0;
    std::vector<double> heights;
    for (const auto& column : columns_) {
      double height = -row_gap;
      for (const std::size_t i : column) height += items_[i].height + row_gap;
      heights.push_back(height);
      tallest = std::max(tallest, height);
    }
    double x = margin;
    for (std::size_t l = 0; l < columns_.size(); ++l) {
      double width = 0;
      double y = margin + (tallest - heights[l]) / 2;
      for (const std::size_t i : columns_[l])
        width = std::max(width, items_[i].width);
      for (const std::size_t i : columns_[l]) {
        items_[i].x = x;
        items_[i].y = y;
        if (items_[i].node == graph_layers::none) items_[i].width = width;
        y += items_[i].height + row_gap;
      }
      x += width + column_gap;
    }
    width_ = columns_.empty() ? 2 * margin : x - column_gap + margin;
    bottom_ = margin + tallest;
    const auto n_back
        = std::count(layers_.backward.begin(), layers_.backward.end(), true);
    height_ = bottom_ + margin + lane_height * static_cast<double>(n_back);
    // A short picture still has room for lanes that turn outside the boxes.
    if (n_back > 0) {
      for (item& one : items_) one.x += lane_height;
      width_ += 2 * lane_height;
    }
  }

  double port_y(const item& box, std::size_t index) const {
    const auto details = node_details(wiring_.nodes[box.node]).size();
    return box.y + header_height
           + line_height * (static_cast<double>(details + index) + 0.5);
  }

  point leaves(std::size_t e) const {
    const item& box = items_[layers_.from[e]];
    const auto& names = ports_[box.node].outputs;
    return {box.x + box.width,
            port_y(box, index_of(names, wiring_.edges[e].from_port))};
  }

  point arrives(std::size_t e) const {
    const item& box = items_[layers_.to[e]];
    const auto& names = ports_[box.node].inputs;
    return {box.x, port_y(box, index_of(names, wiring_.edges[e].to_port))};
  }

  static std::string pair(double x, double y) {
    return number(x) + ',' + number(y);
  }

  static std::string curve(point from, point to) {
    const double bend = std::max(30.0, (to.x - from.x) / 2);
    return " C" + pair(from.x + bend, from.y) + ' ' + pair(to.x - bend, to.y)
           + ' ' + pair(to.x, to.y);
  }

  std::string edge_text(std::size_t e) {
    const point start = leaves(e);
    const point tip = arrives(e);
    const point end{tip.x - 8, tip.y};
    std::string path = "M";
    path += pair(start.x, start.y);
    point label;
    if (layers_.backward[e]) {
      const double lane = bottom_ + lane_height * (0.5 + n_lanes_++);
      path += " C" + pair(start.x + 50, start.y) + ' '
              + pair(start.x + 50, lane) + ' ' + pair(start.x, lane) + " L"
              + pair(tip.x, lane) + " C" + pair(tip.x - 50, lane) + ' '
              + pair(tip.x - 50, tip.y) + ' ' + pair(end.x, end.y);
      label = {(start.x + tip.x) / 2, lane + 4};
    } else {
      point at = start;
      const auto& chain = chains_[e];
      for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
        const item& pass = items_[chain[i]];
        const double y = pass.y + pass.height / 2;
        path += curve(at, {pass.x, y}) + " L" + pair(pass.x + pass.width, y);
        at = {pass.x + pass.width, y};
      }
      path += curve(at, end);
      // In the last gap, so that edges that leave one port stay told apart.
      label = {(at.x + end.x) / 2, (at.y + end.y) / 2 - 6};
    }
    std::string out = "<path class=\"edge\" d=\"";
    out += path + "\"/>\n<path class=\"tip\" d=\"M";
    return out + pair(tip.x, tip.y)
           + " l-9,-4.5 v9 z\"/>\n<text class=\"credit " + "soft\" x=\""
           + number(label.x) + "\" y=\"" + number(label.y) + "\">credit "
           + std::to_string(wiring_.edges[e].credit) + "</text>\n";
  }

  static std::string text_at(double x, double y, const std::string& attributes,
                             const std::string& text) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + attributes
           + '>' + xml_escaped(text) + "</text>\n";
  }

  std::string box_text(const item& box) const {
    const graph_node& node = wiring_.nodes[box.node];
    std::string out = "<g>\n<rect class=\"box\" rx=\"8\" x=\"" + number(box.x)
                      + "\" y=\"" + number(box.y) + "\" width=\""
                      + number(box.width) + "\" height=\"" + number(box.height)
                      + "\"/>\n";
    const double left = box.x + 12;
    const double right = box.x + box.width - 12;
    out += text_at(left, box.y + 21, "class=\"name\"", node.name);
    out += text_at(left, box.y + 38, "class=\"soft\"", node.kind);
    double y = box.y + header_height + line_height * 0.75;
    for (const std::string& line : node_details(node)) {
      out += text_at(left, y, "", line);
      y += line_height;
    }
    const node_ports& ports = ports_[box.node];
    for (std::size_t i = 0; i < ports.inputs.size(); ++i)
      out += text_at(left, port_y(box, i) + 4, "class=\"soft\"",
                     ports.inputs[i]);
    for (std::size_t i = 0; i < ports.outputs.size(); ++i)
      out += text_at(right, port_y(box, i) + 4,
                     "class=\"soft\" text-anchor=\"end\"", ports.outputs[i]);
    return out + "</g>\n";
  }

  std::string document(const std::string& body) const {
    const std::string size
        = "width=\"" + number(width_) + "\" height=\"" + number(height_) + '"';
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size
           + " viewBox=\"0 0 " + number(width_) + ' ' + number(height_)
           + "\" role=\"img\">\n<title>" + xml_escaped(wiring_.name)
           + "</title>\n<style>" + style + "</style>\n<rect class=\"back\" "
           + size + "/>\n" + body + "</svg>\n";
  }

  const graph& wiring_;
  graph_layers layers_;
  std::vector<node_ports> ports_;
  std::vector<item> items_; ///< boxes first, item i is node i
  std::vector<std::vector<std::size_t>> chains_; ///< items along each edge
  std::vector<std::vector<std::size_t>> columns_;
  double width_ = 0, height_ = 0, bottom_ = 0;
  int n_lanes_ = 0;
};

} // namespace

std::string draw_svg(const graph& wiring) {
  return picture(wiring).draw();
}

} // namespace kvloom::graphs
