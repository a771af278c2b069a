#include "tests/support/tiny_vocabulary.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kvloom::test_support {

namespace {

/// A code point below 0x800 in UTF-8.
std::string utf8(unsigned point) {
  if (point < 0x80) return {static_cast<char>(point)};
  return {static_cast<char>(0xc0U | point >> 6U),
          static_cast<char>(0x80U | (point & 0x3fU))};
}

/// The alphabet of byte-level BPE: printable bytes stand for themselves, the
/// others for the code points from 256 on.
std::vector<std::string> byte_alphabet() {
  std::vector<std::string> shown, moved;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable
        = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
    if (printable)
      shown.push_back(utf8(byte));
    else
      moved.push_back(utf8(next++));
  }
  shown.insert(shown.end(), moved.begin(), moved.end());
  return shown;
}

tiny_vocabulary make() {
  tiny_vocabulary words;
  words.tokens = byte_alphabet();
  const std::string space = utf8(0x120);
  const std::pair<std::string, std::string> merges[]
      = {{space, "t"}, {"h", "e"}, {space + "t", "he"}, {"i", "n"}};
  for (const auto& [left, right] : merges) {
    std::string both = left;
    both += right;
    words.tokens.push_back(both);
    std::string merge = left;
    merge += " ";
    merge += right;
    words.merges.push_back(merge);
  }
  words.types.assign(words.tokens.size(), 1);
  const auto control = [&](const char* text) {
    words.tokens.emplace_back(text);
    words.types.push_back(3);
    return static_cast<std::int32_t>(words.tokens.size() - 1);
  };
  words.end_of_text = control("<|endoftext|>");
  words.message_start = control("<|im_start|>");
  words.message_end = control("<|im_end|>");
  return words;
}

} // namespace

const tiny_vocabulary& tiny_words() {
  static const tiny_vocabulary words = make();
  return words;
}

std::string tiny_tokenizer_json() {
  using nlohmann::json;
  const tiny_vocabulary& words = tiny_words();
  json vocabulary = json::object();
  json added = json::array();
  for (std::size_t id = 0; id < words.tokens.size(); ++id) {
    if (words.types[id] == 1) {
      vocabulary[words.tokens[id]] = id;
      continue;
    }
    added.push_back({{"id", id},
                     {"content", words.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", true}};
  return json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", added},
              {"normalizer", nullptr},
              {"pre_tokenizer", bytes},
              {"post_processor", nullptr},
              {"decoder", bytes},
              {"model",
               {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"vocab", vocabulary},
                {"merges", words.merges}}}}
      .dump(1);
}

} // namespace kvloom::test_support
