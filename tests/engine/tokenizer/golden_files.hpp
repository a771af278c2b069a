// The golden files of tests/data/tokenizer.
#pragma once

#include "core/record/question.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kvloom::engine::test {

std::filesystem::path golden_path(const std::string& name);

/// Throws where the file is missing or no JSON: a test cannot go on.
nlohmann::json read_golden(const std::string& name);

/// strings.json, the repeated ones written out.
const std::vector<std::string>& golden_strings();

/// The form in which the files keep ids: long lists as length and digest.
nlohmann::json packed_ids(const std::vector<token_id>& ids);

/// The same for texts.
nlohmann::json packed_text(const std::string& text);

/// Readable beginning of a text, for messages.
std::string shown(const std::string& text);

} // namespace kvloom::engine::test
