#include "configs/schema/diagnostic.hpp"

namespace kvloom::configs {

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
  for (const diagnostic& one : all) {
    if (!text.empty()) text += '\n';
    text += to_string(one);
  }
  return error{errc::bad_input, text, {}};
}

} // namespace kvloom::configs
