// The rules that names of actors and runs follow.
#pragma once

#include <string>
#include <string_view>

namespace kvloom::graphs {

/// What is wrong with the name of an actor; empty if nothing. A name is a
/// lower-case letter and then lower-case letters, digits and single
/// underscores, at most 64, so that KVLOOM_<ACTOR>__<PARAMETER> stays
/// readable both ways; `model` and `prompt` are taken by the sections.
std::string node_name_problem(std::string_view name);

/// The same for the name of a graph or experiment, which names run folders:
/// letters, digits, `_`, `-` and `.`, not first, at most 64.
std::string run_name_problem(std::string_view name);

} // namespace kvloom::graphs
