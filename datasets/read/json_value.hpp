// JSON as a tree that knows where in the text every value stands.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvloom::datasets {

class json_value;
struct json_member;

/// A number as the file spells it, but for integers, which are in their
/// shortest form.
struct json_number {
  std::string spelling;
};

using json_list = std::vector<json_value>;
using json_object = std::vector<json_member>;

class json_value {
public:
  std::variant<std::monostate, bool, json_number, std::string, json_list,
               json_object>
      value;
  /// Bytes in front of the value's last (of lists and objects: first)
  /// character; good for the line.
  std::size_t at = 0;

  bool is_null() const { return value.index() == 0; }
  const bool* as_bool() const { return std::get_if<bool>(&value); }
  const json_number* as_number() const {
    return std::get_if<json_number>(&value);
  }
  const std::string* as_text() const {
    return std::get_if<std::string>(&value);
  }
  const json_list* as_list() const { return std::get_if<json_list>(&value); }
  const json_object* as_object() const {
    return std::get_if<json_object>(&value);
  }

  /// The member of that name, null where there is none, it is JSON's null, or
  /// this is no object.
  const json_value* find(std::string_view name) const;
  /// The same, but JSON's null is found too.
  const json_value* find_any(std::string_view name) const;
};

struct json_member {
  std::string name;
  json_value value;
};

/// `null`, `a number (17)`, `a list of 3`, ... for messages.
std::string describe(const json_value& value);

/// A piece of a file's text, for places in messages.
struct json_source {
  std::string path;
  std::string_view text;
  std::size_t first_line = 1; ///< line of the file on which `text` begins

  /// `path:line` of a byte of the text.
  std::string place(std::size_t at) const;
};

/// Reads one JSON value that fills the whole text. Refused besides faulty
/// JSON (RFC 8259): a name that comes twice in an object, text that is not
/// UTF-8, more than 64 levels. Errors: bad_input with file and line.
result<json_value> parse_json(const json_source& source);

} // namespace kvloom::datasets
