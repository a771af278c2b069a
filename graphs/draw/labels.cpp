#include "graphs/draw/labels.hpp"

#include "configs/schema/quote.hpp"

#include <algorithm>

namespace kvloom::graphs {

namespace {

constexpr std::size_t detail_width = 44;

std::size_t sequence_at(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(configs::utf8_length(text.substr(at)), 1);
}

} // namespace

std::size_t n_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += sequence_at(text, at))
    ++count;
  return count;
}

std::string shortened(const std::string& text, std::size_t width) {
  const std::size_t length = n_characters(text);
  if (length <= width || width < 5) return text;
  const std::size_t head = (width - 3) / 2;
  const std::size_t tail = width - 3 - head;
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t size = sequence_at(text, at);
    if (count == head) out += "...";
    if (count < head || count >= length - tail) out += text.substr(at, size);
    at += size;
  }
  return out;
}

std::vector<std::string> node_details(const graph_node& node) {
  std::vector<std::string> out;
  for (const auto& [name, value] : node.params.all()) {
    if (value.origin.layer == configs::origin_layer::registered_default)
      continue;
    const std::string text = name + " = " + to_text(value.type, value.value);
    out.push_back(shortened(text, detail_width));
  }
  if (node.place.device != "cpu")
    out.push_back(shortened("on " + node.place.device, detail_width));
  if (node.place.threads != 0)
    out.push_back("threads = " + std::to_string(node.place.threads));
  return out;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = configs::utf8_length(text.substr(at));
    const char c = text[at];
    if (size == 0 || (size == 1 && static_cast<unsigned char>(c) < 0x20))
      out += '?';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

} // namespace kvloom::graphs
