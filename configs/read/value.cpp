#include "configs/read/value.hpp"

#include "configs/read/scalar.hpp"
#include "configs/schema/describe.hpp"
#include "configs/schema/quote.hpp"

#include <utility>

namespace kvloom::configs {

namespace {

/// The list value of a declaration, filled element by element.
param_value empty_list(param_type type) {
  switch (type) {
  case param_type::integer_list:
    return std::vector<std::int64_t>{};
  case param_type::real_list:
    return std::vector<double>{};
  default:
    return std::vector<std::string>{};
  }
}

void push_element(param_value& list, const param_value& element) {
  if (auto* texts = std::get_if<std::vector<std::string>>(&list))
    texts->push_back(std::get<std::string>(element));
  else if (auto* integers = std::get_if<std::vector<std::int64_t>>(&list))
    integers->push_back(std::get<std::int64_t>(element));
  else if (auto* reals = std::get_if<std::vector<double>>(&list))
    reals->push_back(std::get<double>(element));
}

std::optional<param_value> read_list(const param_spec& spec,
                                     const yaml_node& node,
                                     const std::string& key_path,
                                     diagnostics& problems) {
  if (node.kind != yaml_kind::sequence) {
    problems.push_back({node.place, key_path,
                        "found " + describe(node) + ", wanted " + describe(spec)
                            + ", written [a, b]"});
    return std::nullopt;
  }
  param_value list = empty_list(spec.type);
  bool good = true;
  param_spec element = spec;
  element.type = element_type(spec.type);
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string path = key_path + '[' + std::to_string(i) + ']';
    const auto value = read_value(element, *node.items[i], path, problems);
    if (value)
      push_element(list, *value);
    else
      good = false;
  }
  if (!good) return std::nullopt;
  return list;
}

tl::unexpected<text_problem> problem(std::size_t column, std::string message) {
  return tl::unexpected<text_problem>(text_problem{column, std::move(message)});
}

/// Reads the quoted text at `at` (which holds the quote); leaves `at` behind
/// the closing quote.
tl::expected<std::string, text_problem> read_quoted(std::string_view text,
                                                    std::size_t& at) {
  const std::size_t start = at;
  std::string out;
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      ++at;
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    const std::size_t escape = at;
    const char next = ++at < text.size() ? text[at] : '\0';
    switch (next) {
    case '"':
    case '\\':
      out += next;
      break;
    case 'n':
      out += '\n';
      break;
    case 't':
      out += '\t';
      break;
    default:
      return problem(escape, "unknown escape; inside quotes write \\\", \\\\, "
                             "\\n or \\t");
    }
  }
  return problem(start, "this quote is not closed");
}

void skip_blanks(std::string_view text, std::size_t& at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
}

constexpr const char* list_rule
    = "a list is written [a, \"b,c\"], elements with commas in quotes";

/// One element of a list, up to its comma or bracket.
tl::expected<param_value, text_problem>
read_element(const param_spec& spec, std::string_view text, std::size_t& at) {
  skip_blanks(text, at);
  const std::size_t start = at;
  std::string element;
  const bool quoted = at < text.size() && text[at] == '"';
  if (quoted) {
    auto inner = read_quoted(text, at);
    if (!inner) return tl::unexpected<text_problem>(inner.error());
    element = *inner;
    skip_blanks(text, at);
  } else {
    while (at < text.size() && text[at] != ',' && text[at] != ']'
           && text[at] != '[' && text[at] != '"')
      ++at;
    element = std::string(text.substr(start, at - start));
    while (!element.empty()
           && (element.back() == ' ' || element.back() == '\t'))
      element.pop_back();
    if (element.empty())
      return problem(start, std::string("an element is missing; ") + list_rule);
  }
  auto value = read_scalar(spec, element, quoted);
  if (!value) return problem(start, value.error());
  return *value;
}

tl::expected<param_value, text_problem> read_list_text(const param_spec& spec,
                                                       std::string_view text) {
  std::size_t at = 0;
  if (text.empty() || text.front() != '[')
    return problem(0, "found " + shown(text) + ", wanted " + describe(spec)
                          + "; " + list_rule);
  param_value list = empty_list(spec.type);
  ++at;
  skip_blanks(text, at);
  bool open = at >= text.size() || text[at] != ']';
  if (!open) ++at;
  while (open) {
    auto element = read_element(spec, text, at);
    if (!element) return element;
    push_element(list, *element);
    if (at >= text.size())
      return problem(at, std::string("the list lacks its `]`; ") + list_rule);
    if (text[at] != ',' && text[at] != ']')
      return problem(at, "found " + shown(text.substr(at, 1))
                             + " where a comma or `]` belongs; " + list_rule);
    open = text[at] == ',';
    ++at;
  }
  if (at != text.size())
    return problem(at, "found " + shown(text.substr(at)) + " behind the list; "
                           + list_rule);
  return list;
}

} // namespace

std::optional<param_value> read_value(const param_spec& spec,
                                      const yaml_node& node,
                                      const std::string& key_path,
                                      diagnostics& problems) {
  if (is_list(spec.type)) return read_list(spec, node, key_path, problems);
  if (node.kind != yaml_kind::scalar) {
    std::string message
        = "found " + describe(node) + ", wanted " + describe(spec);
    if (node.kind == yaml_kind::null)
      message += spec.type == param_type::text
                     ? "; give a value (null in quotes where that is the "
                       "text), or remove the key"
                     : "; give a value or remove the key";
    problems.push_back({node.place, key_path, message});
    return std::nullopt;
  }
  auto value = read_scalar(spec, node.text, node.quoted);
  if (!value) {
    problems.push_back({node.place, key_path, value.error()});
    return std::nullopt;
  }
  return *value;
}

tl::expected<param_value, text_problem> read_value_text(const param_spec& spec,
                                                        std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return problem(i, "not UTF-8; use UTF-8 text");
    i += length;
  }
  if (is_list(spec.type)) return read_list_text(spec, text);
  std::string value(text);
  const bool quoted = !text.empty() && text.front() == '"';
  if (quoted) {
    std::size_t at = 0;
    auto inner = read_quoted(text, at);
    if (!inner) return tl::unexpected<text_problem>(inner.error());
    if (at != text.size())
      return problem(at, "found " + shown(text.substr(at))
                             + " behind the closing quote");
    value = *inner;
  }
  auto read = read_scalar(spec, value, quoted);
  if (!read) return problem(0, read.error());
  return *read;
}

} // namespace kvloom::configs
