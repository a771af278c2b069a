#include "cli/command.hpp"
#include "cli/output.hpp"

#include <unistd.h>

#include <cstring>

namespace kvloom::cli {

int report_error(const error& what) {
  say("error: {}\n", to_string(what));
  return exit_code(what.code);
}

std::map<std::string, std::string> kvloom_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals == nullptr || std::strncmp(*entry, "KVLOOM_", 7) != 0) continue;
    const char* const name = *entry;
    found.emplace(std::string(name, equals), equals + 1);
  }
  return found;
}

} // namespace kvloom::cli
