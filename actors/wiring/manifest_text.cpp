#include "actors/wiring/manifest_text.hpp"

#include <nlohmann/json.hpp>

namespace kvloom::actors {

std::string manifest_text(const report::run_manifest& manifest) {
  const nlohmann::json text{
      {"schema", "kvloom/manifest/1"}, {"digests", manifest.digests},
      {"machine", manifest.machine},   {"settings", manifest.settings},
      {"versions", manifest.versions}, {"command", manifest.command},
      {"notes", manifest.notes},       {"seed", manifest.seed}};
  // A command line need not be UTF-8.
  return text.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
         + "\n";
}

} // namespace kvloom::actors
