// Where a row stands, for messages about it.
#pragma once

#include "core/base/result.hpp"
#include "datasets/read/json_value.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kvloom::datasets {

struct row_context {
  const json_source& source;
  std::size_t row = 0; ///< counted from 0
  std::string id;      ///< empty until known

  /// `row 3 (id "x")`.
  std::string label() const;

  /// `file:line: row 3 (id "x"), field "answers[1]": ` and what is wrong.
  tl::unexpected<error> refuse(const json_value& where, std::string_view field,
                               std::string_view what) const;

  /// The same for a value of the wrong kind: found and wanted are named.
  tl::unexpected<error> wrong_kind(const json_value& found,
                                   std::string_view field,
                                   std::string_view wanted) const;
};

} // namespace kvloom::datasets
