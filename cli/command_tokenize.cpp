#include "cli/command.hpp"
#include "cli/output.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

namespace kvloom::cli {

namespace {

result<std::string> read_text(const tokenize_options& options) {
  if (options.file.empty()) return options.text;
  if (options.file == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  std::ifstream in(options.file, std::ios::binary);
  if (!in) {
    return fail(errc::bad_input,
                "cannot be read; name a file that exists and may be read",
                options.file);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
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
