// What must hold for a graph to be started; pure functions, one concern each.
// All work on the file as written, so that every problem has its place, and
// skip what an earlier problem leaves without meaning.
#pragma once

#include "configs/schema/diagnostic.hpp"
#include "graphs/check/graph_file.hpp"
#include "graphs/model/kind.hpp"

namespace kvloom::graphs {

/// Every actor's type is known.
void check_kinds(const written_graph& graph, const kind_catalogue& kinds,
                 configs::diagnostics& problems);

/// Edges join known ports of equal payload, none twice, none to its own
/// actor; ports that need an edge have one, ports that take one have one.
void check_edges(const written_graph& graph, const kind_catalogue& kinds,
                 configs::diagnostics& problems);

/// Every cycle holds an actor of a kind that may lie on one. The graph must
/// have passed check_edges.
void check_cycles(const written_graph& graph, const kind_catalogue& kinds,
                  configs::diagnostics& problems);

/// There are a source and a sink; every actor is fed by a source; from every
/// actor work arrives at a sink, or at an actor without outputs. The graph
/// must have passed check_edges.
void check_reach(const written_graph& graph, const kind_catalogue& kinds,
                 configs::diagnostics& problems);

/// Every actor runs on a CPU of this process: all that this build can do.
void check_placement(const written_graph& graph,
                     configs::diagnostics& problems);

const written_actor* find_actor(const written_graph& graph,
                                const std::string& name);

} // namespace kvloom::graphs
