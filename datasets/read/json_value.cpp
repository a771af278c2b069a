#include "datasets/read/json_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_set>

namespace kvloom::datasets {

namespace {

constexpr std::size_t most_levels = 64;

/// Walks over text and says how far the parser has come.
class counting_iterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  counting_iterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  counting_iterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  bool operator==(const counting_iterator& other) const {
    return at_ == other.at_;
  }
  bool operator!=(const counting_iterator& other) const {
    return at_ != other.at_;
  }

private:
  const char* at_;
  const char** seen_;
};

/// Builds the tree from the parser's events.
class tree_builder {
public:
  using json = nlohmann::json;

  tree_builder(const json_source& source, const char** seen)
      : source_(source), seen_(seen) {}

  bool null() { return put({}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) {
    return put(json_number{std::to_string(value)});
  }
  bool number_unsigned(json::number_unsigned_t value) {
    return put(json_number{std::to_string(value)});
  }
  bool number_float(json::number_float_t, const json::string_t& spelling) {
    return put(json_number{spelling});
  }
  bool string(json::string_t& value) { return put(std::move(value)); }
  bool binary(json::binary_t&) { return false; } // JSON text has none
  bool start_object(std::size_t) { return open(json_object{}); }
  bool start_array(std::size_t) { return open(json_list{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(json::string_t& name) {
    auto& inner = levels_.back();
    if (!inner.names.insert(name).second)
      return refuse(fmt::format("\"{}\" comes twice in one object; keep one "
                                "of the two",
                                name));
    inner.key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& thrown) {
    // The parser's sentence begins with its own name and a line of the piece.
    std::string_view what = thrown.what();
    if (const auto cut = what.find(": "); cut != std::string_view::npos)
      what.remove_prefix(cut + 2);
    constexpr std::size_t most = 240;
    std::string said(what.substr(0, most));
    // Never cut a character in two.
    while (said.size() < what.size() && !said.empty()
           && (static_cast<unsigned char>(what[said.size()]) & 0xC0U) == 0x80U)
      said.pop_back();
    if (said.size() < what.size()) said += " ...";
    return refuse("not valid JSON: " + said);
  }

  std::optional<error> fault;
  json_value root;

private:
  struct level {
    json_value value;
    std::string key; ///< of the member to come, in objects
    std::unordered_set<std::string> names;
  };

  std::size_t here() const {
    const auto n = static_cast<std::size_t>(*seen_ - source_.text.data());
    return n > 0 ? n - 1 : 0;
  }
  bool refuse(std::string message) {
    fault = error{errc::bad_input, std::move(message), source_.place(here())};
    return false;
  }
  bool put(decltype(json_value::value) value) {
    return hang(json_value{std::move(value), here()});
  }
  bool open(decltype(json_value::value) value) {
    if (levels_.size() == most_levels)
      return refuse(fmt::format("more than {} levels of lists and objects; no "
                                "data set is that deep",
                                most_levels));
    levels_.push_back({json_value{std::move(value), here()}, {}, {}});
    return true;
  }
  bool close() {
    auto done = std::move(levels_.back().value);
    levels_.pop_back();
    return hang(std::move(done));
  }
  bool hang(json_value done) {
    if (levels_.empty()) {
      root = std::move(done);
      return true;
    }
    auto& parent = levels_.back();
    if (auto* list = std::get_if<json_list>(&parent.value.value))
      list->push_back(std::move(done));
    else
      std::get<json_object>(parent.value.value)
          .push_back({std::move(parent.key), std::move(done)});
    return true;
  }

  const json_source& source_;
  const char** seen_;
  std::vector<level> levels_;
};

} // namespace

const json_value* json_value::find_any(std::string_view name) const {
  const auto* members = as_object();
  if (members == nullptr) return nullptr;
  const auto found
      = std::find_if(members->begin(), members->end(),
                     [&](const auto& member) { return member.name == name; });
  return found == members->end() ? nullptr : &found->value;
}

const json_value* json_value::find(std::string_view name) const {
  const auto* found = find_any(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string describe(const json_value& value) {
  if (const auto* truth = value.as_bool()) return *truth ? "true" : "false";
  if (const auto* number = value.as_number())
    return fmt::format("a number ({})", number->spelling);
  if (const auto* text = value.as_text())
    return text->empty() ? "an empty text" : "a text";
  if (const auto* list = value.as_list())
    return list->empty() ? "an empty list"
                         : fmt::format("a list of {}", list->size());
  if (value.as_object() != nullptr) return "an object";
  return "null";
}

std::string json_source::place(std::size_t at) const {
  const auto until = text.substr(0, std::min(at, text.size()));
  const auto line = first_line
                    + static_cast<std::size_t>(
                        std::count(until.begin(), until.end(), '\n'));
  return fmt::format("{}:{}", path, line);
}

result<json_value> parse_json(const json_source& source) {
  const char* seen = source.text.data();
  const counting_iterator first(source.text.data(), &seen);
  const counting_iterator last(source.text.data() + source.text.size(), &seen);
  tree_builder builder(source, &seen);
  bool parsed = false;
  try {
    parsed = nlohmann::json::sax_parse(first, last, &builder);
  } catch (const std::exception& fault) {
    return fail(errc::bad_input, std::string("not valid JSON: ") + fault.what(),
                source.place(0));
  }
  if (!parsed)
    return tl::unexpected<error>(builder.fault.value_or(
        error{errc::bad_input, "not valid JSON", source.place(0)}));
  return std::move(builder.root);
}

} // namespace kvloom::datasets
