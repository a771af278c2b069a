// The known name that a misspelt one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvloom::configs {

/// Letters to insert, remove, replace or swap with a neighbour to turn one
/// name into the other, letter case ignored (optimal string alignment).
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The known name nearest to `name`; empty if none is near enough (a third of
/// its length, at least one edit and at most three) to be a misspelling.
std::string nearest(std::string_view name,
                    const std::vector<std::string>& known);

/// `; did you mean X? known: A, B, X` for the end of a message; `noun` names
/// what is listed. Lists at most twenty.
std::string hint(std::string_view name, std::string_view noun,
                 const std::vector<std::string>& known);

} // namespace kvloom::configs
