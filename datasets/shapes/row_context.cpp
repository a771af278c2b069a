#include "datasets/shapes/row_context.hpp"

#include <fmt/format.h>

namespace kvloom::datasets {

std::string row_context::label() const {
  return id.empty() ? fmt::format("row {}", row)
                    : fmt::format("row {} (id \"{}\")", row, id);
}

tl::unexpected<error> row_context::refuse(const json_value& where,
                                          std::string_view field,
                                          std::string_view what) const {
  return fail(errc::bad_input,
              fmt::format("{}, field \"{}\": {}", label(), field, what),
              source.place(where.at));
}

tl::unexpected<error> row_context::wrong_kind(const json_value& found,
                                              std::string_view field,
                                              std::string_view wanted) const {
  return refuse(found, field,
                fmt::format("found {}, wanted {}; correct or remove the row",
                            describe(found), wanted));
}

} // namespace kvloom::datasets
