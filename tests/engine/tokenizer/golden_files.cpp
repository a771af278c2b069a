#include "tests/engine/tokenizer/golden_files.hpp"

#include "core/base/sha256.hpp"

#include <fstream>
#include <stdexcept>

namespace kvloom::engine::test {

namespace {

constexpr std::size_t many = 120; // as in make_golden.py

} // namespace

std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(KVLOOM_SOURCE_DIR) / "tests/data/tokenizer"
         / name;
}

nlohmann::json read_golden(const std::string& name) {
  std::ifstream in(golden_path(name));
  if (!in) throw std::runtime_error("no golden file " + name);
  return nlohmann::json::parse(in);
}

const std::vector<std::string>& golden_strings() {
  static const auto all = [] {
    const auto root = read_golden("strings.json");
    auto strings = root.at("strings").get<std::vector<std::string>>();
    for (const auto& row : root.at("long")) {
      std::string text;
      for (std::size_t i = 0; i < row[1].get<std::size_t>(); ++i)
        text += row[0].get<std::string>();
      strings.push_back(std::move(text));
    }
    return strings;
  }();
  return all;
}

nlohmann::json packed_ids(const std::vector<token_id>& ids) {
  if (ids.size() <= many) return ids;
  std::string body;
  for (const auto id : ids) {
    if (!body.empty()) body += ',';
    body += std::to_string(id);
  }
  return nlohmann::json::array(
      {-static_cast<std::int64_t>(ids.size()), sha256_hex(body)});
}

nlohmann::json packed_text(const std::string& text) {
  if (text.size() <= 3 * many) return text;
  return {{"bytes", text.size()}, {"sha256", sha256_hex(text)}};
}

std::string shown(const std::string& text) {
  return nlohmann::json(text)
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
      .substr(0, 200);
}

} // namespace kvloom::engine::test
