// Regular expressions of tokenizer files, written for Oniguruma, carried over
// to PCRE2.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace kvloom::engine {

/// The same expression in PCRE2 syntax (to be compiled with UTF, UCP and
/// MULTILINE). Escapes whose sets differ (\s \w \h \b), script properties and
/// \uHHHH are rewritten; constructs that mean something else in PCRE2 and
/// cannot be rewritten (nested classes, &&, {n,m}+, inline flags that reach
/// past a group) are refused. Errors: bad_input naming construct and offset.
result<std::string> to_pcre2(std::string_view pattern);

/// A literal text as a PCRE2 expression.
std::string quote_regex(std::string_view literal);

} // namespace kvloom::engine
