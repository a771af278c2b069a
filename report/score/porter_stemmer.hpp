// The stemmer that public ROUGE figures are computed with.
#pragma once

#include <string>
#include <string_view>

namespace kvloom::report {

/// Porter (1980), "An algorithm for suffix stripping", with the extensions of
/// NLTK's default mode (words of two letters, irregular forms, and changed
/// rules for -ies, -ied, -y, -alli, -bli, -fulli, -logi), as the package
/// rouge-score uses it. `word` in lower case.
std::string porter_stem(std::string_view word);

} // namespace kvloom::report
