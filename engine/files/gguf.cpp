// The tokenizer keys of a GGUF file.
#include "engine/files/gguf_reader.hpp"
#include "engine/tokenizer/gguf_vocabulary.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace kvloom::engine {

namespace {

/// Reads keys one by one and remembers the first fault.
class key_reader {
public:
  explicit key_reader(const gguf_file& file) : file_(file) {}

  template <class T>
  T take(result<T> read) {
    if (read) return std::move(*read);
    if (!fault_) fault_ = std::move(read.error());
    return T{};
  }

  std::optional<token_id> id(std::string_view key, std::size_t n_tokens) {
    const auto value = take(file_.integer(key));
    // Files without such a token write the largest u32.
    if (!value || *value == std::numeric_limits<std::uint32_t>::max()
        || *value == -1)
      return std::nullopt;
    if (*value < 0 || static_cast<std::uint64_t>(*value) >= n_tokens) {
      refuse("the key \"" + std::string(key) + "\" is " + std::to_string(*value)
             + ", the vocabulary has " + std::to_string(n_tokens) + " tokens");
      return std::nullopt;
    }
    return static_cast<token_id>(*value);
  }

  void refuse(const std::string& message) {
    if (!fault_)
      fault_ = error{errc::environment,
                     message
                         + "; the file is damaged or was converted by a "
                           "faulty tool",
                     file_.place()};
  }

  const std::optional<error>& fault() const { return fault_; }

private:
  const gguf_file& file_;
  std::optional<error> fault_;
};

} // namespace

result<gguf_vocabulary>
read_gguf_vocabulary(const std::filesystem::path& path) {
  auto map = file_map::open(path);
  if (!map) return pass_on(map);
  auto opened = gguf_file::read(*map);
  if (!opened) return pass_on(opened);
  const gguf_file& file = *opened;
  key_reader keys(file);
  gguf_vocabulary words;
  const auto text = [&](std::string_view key) {
    return keys.take(file.text(key)).value_or(std::string{});
  };
  words.model = text("tokenizer.ggml.model");
  words.pre = text("tokenizer.ggml.pre");
  words.tokens = keys.take(file.texts("tokenizer.ggml.tokens"));
  words.scores = keys.take(file.floats("tokenizer.ggml.scores"));
  for (const std::int64_t type :
       keys.take(file.integers("tokenizer.ggml.token_type")))
    words.types.push_back(static_cast<std::int32_t>(type));
  words.merges = keys.take(file.texts("tokenizer.ggml.merges"));
  words.chat_template = text("tokenizer.chat_template");
  words.add_bos = keys.take(file.boolean("tokenizer.ggml.add_bos_token"));
  words.add_space_prefix
      = keys.take(file.boolean("tokenizer.ggml.add_space_prefix"));
  if (!keys.fault() && words.tokens.empty())
    keys.refuse("the key \"tokenizer.ggml.tokens\" is missing or empty");
  const std::size_t n_tokens = words.tokens.size();
  if (n_tokens > static_cast<std::size_t>(std::numeric_limits<token_id>::max()))
    keys.refuse("the vocabulary has " + std::to_string(n_tokens) + " tokens");
  const auto same_length = [&](std::string_view key, std::size_t n) {
    if (n != 0 && n != n_tokens)
      keys.refuse("the key \"" + std::string(key) + "\" has "
                  + std::to_string(n) + " entries for "
                  + std::to_string(n_tokens) + " tokens");
  };
  same_length("tokenizer.ggml.scores", words.scores.size());
  same_length("tokenizer.ggml.token_type", words.types.size());
  words.bos = keys.id("tokenizer.ggml.bos_token_id", n_tokens);
  words.eos = keys.id("tokenizer.ggml.eos_token_id", n_tokens);
  words.unknown = keys.id("tokenizer.ggml.unknown_token_id", n_tokens);
  words.padding = keys.id("tokenizer.ggml.padding_token_id", n_tokens);
  if (keys.fault()) return tl::unexpected<error>(*keys.fault());
  return words;
}

} // namespace kvloom::engine
