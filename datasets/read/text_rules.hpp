// Which texts are blank and what is cut off their ends.
#pragma once

#include <string>
#include <string_view>

namespace kvloom::datasets {

/// Without Unicode white space at both ends; what is inside stays as it is,
/// carriage returns and no-break spaces too.
std::string_view stripped(std::string_view utf8);

/// Nothing but white space and characters without a shape (byte order mark,
/// zero-width space and joiners, direction marks, word joiner). Any bytes may
/// come; those that are no UTF-8 are not blank.
bool is_blank(std::string_view utf8);

} // namespace kvloom::datasets
