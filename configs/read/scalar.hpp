// One scalar, typed by its declaration; the same rules for YAML and for the
// command line. Numbers are read by std::from_chars: no locale matters.
#pragma once

#include "configs/schema/param.hpp"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace kvloom::configs {

/// A problem in words: what was found, what was wanted, the remedy.
using scalar_result = tl::expected<param_value, std::string>;

/// Reads `text` as an element of `spec` (for list types: of the list).
/// Texts, choices and paths take any text as it is; booleans take `true` and
/// `false` only; numbers are decimal, finite, without leading zeros or
/// separators, and never in quotes. Ranges and choices are checked.
scalar_result read_scalar(const param_spec& spec, std::string_view text,
                          bool quoted);

/// 512MiB, 2GB, 1.5KiB, 4096; B, kB/KB, MB, GB, TB are powers of 1000.
/// A decimal is taken exactly and must be a whole number of bytes; it may have
/// up to 18 digits behind the point.
tl::expected<std::int64_t, std::string> read_bytes(std::string_view text);

/// 20ms, 1.5s, 2min, 1h, 5us, 7ns; nanoseconds. A unit is needed. Decimals as
/// for read_bytes().
tl::expected<std::int64_t, std::string> read_duration(std::string_view text);

} // namespace kvloom::configs
