#include "configs/schema/nearest.hpp"

#include "configs/schema/quote.hpp"

#include <algorithm>
#include <cctype>

namespace kvloom::configs {

namespace {

constexpr std::size_t longest_name = 128;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

} // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> before(width), above(width), row(width);
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower(one[i - 1]) == lower(other[j - 1]);
      row[j] = std::min(
          {above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1
                           && lower(one[i - 1]) == lower(other[j - 2])
                           && lower(one[i - 2]) == lower(other[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[width - 1];
}

std::string nearest(std::string_view name,
                    const std::vector<std::string>& known) {
  if (name.size() > longest_name) return {};
  const std::size_t allowed = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  std::size_t best = allowed + 1;
  std::string found;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string hint(std::string_view name, std::string_view noun,
                 const std::vector<std::string>& known) {
  std::string out;
  const std::string meant = nearest(name, known);
  if (!meant.empty()) out += "; did you mean " + shown(meant) + "?";
  if (known.empty()) return out + "; there are no " + std::string(noun);
  out += (meant.empty() ? "; " : " ") + std::string(noun) + ": ";
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < known.size() && i < most; ++i)
    out += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > most) out += ", ...";
  return out;
}

} // namespace kvloom::configs
