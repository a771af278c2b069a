// Text as it is shown in messages and written in YAML.
#pragma once

#include <string>
#include <string_view>

namespace kvloom::configs {

/// For messages: between backticks, control characters and broken UTF-8
/// escaped, cut after about 60 characters.
std::string shown(std::string_view text);

/// A YAML scalar that every reader takes for this very text: plain where that
/// is safe, else in double quotes with escapes. One line.
std::string yaml_scalar(std::string_view text);

/// Length of the valid UTF-8 sequence at the front of `text` in bytes; 0 if
/// there is none (empty, overlong, surrogate, cut off).
std::size_t utf8_length(std::string_view text);

} // namespace kvloom::configs
