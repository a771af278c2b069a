#include "engine/tokenizer/tokenizer.hpp"

#include "engine/tokenizer/gguf_tokenizer.hpp"
#include "engine/tokenizer/gguf_vocabulary.hpp"
#include "engine/tokenizer/tokenizer_json.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <utility>

namespace kvloom::engine {

struct stream_decoder::state {
  std::shared_ptr<const tokenizer> owner;
  decode_state at;
  utf8_repairer repair;
};

stream_decoder::stream_decoder(std::shared_ptr<const tokenizer> owner)
    : state_(std::make_unique<state>()) {
  state_->owner = std::move(owner);
}

stream_decoder::~stream_decoder() = default;
stream_decoder::stream_decoder(stream_decoder&&) noexcept = default;
stream_decoder& stream_decoder::operator=(stream_decoder&&) noexcept = default;

std::string stream_decoder::push(token_id id) {
  std::string bytes;
  state_->owner->decode_next(id, state_->at, bytes);
  std::string text;
  state_->repair.push(bytes, text);
  return text;
}

std::string stream_decoder::finish() {
  std::string text;
  state_->repair.finish(text);
  return text;
}

result<std::shared_ptr<const tokenizer>>
load_tokenizer(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code ignored; // a path that cannot be seen is opened below
  if (fs::is_directory(path, ignored)) {
    const fs::path inside = path / "tokenizer.json";
    if (fs::exists(inside, ignored)) return load_tokenizer_json(inside);
    const bool pieces = fs::exists(path / "tokenizer.model", ignored);
    return fail(errc::environment,
                std::string("the folder has no tokenizer.json")
                    + (pieces ? "; its tokenizer.model has to be converted "
                                "(save_pretrained of a fast tokenizer does it)"
                              : "; download it with the model"),
                path.string());
  }
  if (path.extension() == ".json") return load_tokenizer_json(path);
  auto words = read_gguf_vocabulary(path);
  if (!words) return pass_on(words);
  auto made = make_gguf_tokenizer(*words);
  if (!made && made.error().place.empty()) made.error().place = path.string();
  return made;
}

} // namespace kvloom::engine
