#include "configs/schema/diagnostic.hpp"

#include <utility>

namespace kvloom::configs {

namespace {

constexpr std::size_t most_lines = 200;

} // namespace

source_place whole(std::string file) {
  source_place place;
  place.file = std::move(file);
  return place;
}

std::string to_string(const source_place& place) {
  std::string out = place.file;
  if (place.line > 0) {
    out += ':' + std::to_string(place.line);
    if (place.column > 0) out += ':' + std::to_string(place.column);
  } else if (place.column > 0) {
    out += ", column " + std::to_string(place.column);
  }
  return out;
}

std::string to_string(const diagnostic& what) {
  std::string out = to_string(what.place);
  if (!out.empty()) out += ": ";
  if (!what.key_path.empty()) out += what.key_path + ": ";
  return out + what.message;
}

error to_error(const diagnostics& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size() && i < most_lines; ++i) {
    if (i > 0) text += '\n';
    text += to_string(all[i]);
  }
  if (all.size() > most_lines)
    text += "\n... and " + std::to_string(all.size() - most_lines) + " more";
  return error{errc::bad_input, text, {}};
}

} // namespace kvloom::configs
