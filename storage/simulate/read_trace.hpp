// Traces from JSON lines.
#pragma once

#include "core/base/result.hpp"
#include "storage/simulate/trace.hpp"

#include <string>
#include <string_view>

namespace kvloom::storage {

/// One request a line, in order; blank lines are skipped. A line is either
///
///     {"chunks": [{"id": "a text or a whole number", "tokens": 512}, ...]}
///
/// or of the Mooncake form {"input_length": 6758, "hash_ids": [0, 1, ...]}:
/// blocks of 512 tokens, of which the last has what is left. Other members are
/// ignored. An id is one chunk: it has the same tokens wherever it comes.
/// Errors: bad_input with `place:line`, where the text breaks these rules or
/// has no request.
result<trace> read_trace(std::string_view text, const std::string& place);

} // namespace kvloom::storage
