// What the example offers: the kind for the registry, and its function alone.
#pragma once

#include "actors/interfaces/payloads.hpp"
#include "actors/wiring/registry.hpp"

#include <cstddef>

namespace examples {

/// The `keep` best passages: first, last, second, last but one, ... by rank.
kvloom::actors::retrieved to_the_edges(const kvloom::actors::retrieved& chosen,
                                       std::size_t keep);

/// The kind `edge_reranker`.
kvloom::actors::node_type edge_reranker_type();

} // namespace examples
