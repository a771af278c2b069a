#include "cli/command.hpp"
#include "cli/output.hpp"
#include "datasets/read/file_bytes.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>
#include <iterator>

namespace kvloom::cli {

namespace {

constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 30U;

result<std::string> read_text(const tokenize_options& options) {
  if (options.file.empty()) return options.text;
  if (options.file == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  auto bytes = datasets::read_file_bytes(options.file, most_text_bytes);
  if (!bytes) return pass_on(bytes);
  return std::move(bytes->text);
}

} // namespace

int tokenize(const tokenize_options& options) {
  auto words = engine::load_tokenizer(options.model);
  if (!words) return report_error(words.error());
  auto text = read_text(options);
  if (!text) return report_error(text.error());
  auto ids = options.control ? (*words)->encode_with_control(*text)
                             : (*words)->encode(*text);
  if (!ids) return report_error(ids.error());
  if (options.common.json) {
    auto pieces = nlohmann::json::array();
    for (auto id : *ids) pieces.push_back((*words)->piece(id));
    const nlohmann::json out{
        {"ids", *ids}, {"pieces", pieces}, {"digest", (*words)->digest()}};
    put("{}\n",
        out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    put("{}\n", fmt::join(*ids, " "));
  }
  return 0;
}

} // namespace kvloom::cli
