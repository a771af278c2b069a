// manifest.json: what a run was made of.
#pragma once

#include "report/write/run_folder.hpp"

#include <string>

namespace kvloom::actors {

/// The manifest as JSON (docs/formats.md), with a newline at the end.
std::string manifest_text(const report::run_manifest& manifest);

} // namespace kvloom::actors
