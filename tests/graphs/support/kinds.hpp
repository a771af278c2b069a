// A catalogue for tests: the shape of the built-in kinds, without actors.
#pragma once

#include "graphs/model/kind.hpp"

namespace kvloom::graphs {

/// question_source, retriever, prefiller, decoder, recorder, and `store`, which
/// may lie on cycles, and `wanderer`, which may not.
kind_catalogue test_kinds();

} // namespace kvloom::graphs
