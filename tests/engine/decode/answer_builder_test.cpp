#include "../model/golden_model.hpp"
#include "engine/decode/sampling.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

constexpr token_id eos = 256;
constexpr token_id end_piece = 257; ///< ". END"

/// How byte-level BPE spells a byte (the GPT-2 table).
std::string spelling(int byte) {
  int code = byte;
  const bool printable = (byte >= 33 && byte <= 126)
                         || (byte >= 161 && byte <= 172) || byte >= 174;
  if (!printable) {
    code = 256;
    for (int b = 0; b < byte; ++b)
      if (!((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174))
        ++code;
  }
  if (code < 128) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | (code >> 6)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

/// A tokenizer whose id b is the byte b.
std::shared_ptr<const tokenizer> byte_tokenizer() {
  static const auto made = [] {
    nlohmann::json vocabulary;
    for (int b = 0; b < 256; ++b) vocabulary[spelling(b)] = b;
    vocabulary["<eos>"] = eos;
    vocabulary["." + spelling(' ') + "END"] = end_piece;
    const nlohmann::json root = {{"version", "1.0"},
                                 {"truncation", nullptr},
                                 {"padding", nullptr},
                                 {"added_tokens",
                                  {{{"id", eos},
                                    {"content", "<eos>"},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}}}},
                                 {"normalizer", nullptr},
                                 {"pre_tokenizer",
                                  {{"type", "ByteLevel"},
                                   {"add_prefix_space", false},
                                   {"trim_offsets", true},
                                   {"use_regex", true}}},
                                 {"post_processor", nullptr},
                                 {"decoder",
                                  {{"type", "ByteLevel"},
                                   {"add_prefix_space", true},
                                   {"trim_offsets", true},
                                   {"use_regex", true}}},
                                 {"model",
                                  {{"type", "BPE"},
                                   {"dropout", nullptr},
                                   {"unk_token", nullptr},
                                   {"continuing_subword_prefix", nullptr},
                                   {"end_of_word_suffix", nullptr},
                                   {"fuse_unk", false},
                                   {"byte_fallback", false},
                                   {"ignore_merges", false},
                                   {"vocab", vocabulary},
                                   {"merges", nlohmann::json::array()}}}};
    const scratch_folder folder("byte_tokenizer");
    std::ofstream(folder.path() / "tokenizer.json") << root.dump();
    auto loaded = load_tokenizer(folder.path());
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    return *loaded;
  }();
  return made;
}

/// Feeds bytes as ids until the builder is done; how many it took.
std::size_t feed(answer_builder& into, const std::string& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (into.push(static_cast<unsigned char>(bytes[i]))) return i + 1;
  return bytes.size();
}

answer_builder builder(std::vector<std::string> stops,
                       std::int64_t max_new_tokens = 100) {
  return {byte_tokenizer(), {eos, 7}, max_new_tokens, std::move(stops)};
}

TEST(answer_builder, eos_counts_and_gives_no_text) {
  answer_builder one = builder({});
  feed(one, "Paris");
  EXPECT_FALSE(one.finish());
  EXPECT_TRUE(one.push(eos));
  EXPECT_EQ(one.finish(), finish_reason::eos);
  EXPECT_EQ(one.text(), "Paris");
  EXPECT_EQ(one.ids().size(), 6U);
  EXPECT_TRUE(one.push('x')); // nothing changes after the end
  EXPECT_EQ(one.text(), "Paris");
  EXPECT_EQ(one.ids().size(), 6U);
}

TEST(answer_builder, every_end_id_ends) {
  answer_builder one = builder({});
  EXPECT_TRUE(one.push(7));
  EXPECT_EQ(one.finish(), finish_reason::eos);
  EXPECT_EQ(one.text(), "");
}

TEST(answer_builder, length) {
  answer_builder one = builder({}, 3);
  EXPECT_EQ(feed(one, "abcdef"), 3U);
  EXPECT_EQ(one.finish(), finish_reason::length);
  EXPECT_EQ(one.text(), "abc");
  answer_builder last = builder({}, 3);
  feed(last, "ab");
  EXPECT_TRUE(last.push(eos)); // EOS as the last allowed id is EOS
  EXPECT_EQ(last.finish(), finish_reason::eos);
}

TEST(answer_builder, a_length_in_mid_character_gives_the_replacement) {
  answer_builder one = builder({}, 3);
  feed(one, "a\xe2\x82");
  EXPECT_EQ(one.finish(), finish_reason::length);
  EXPECT_EQ(one.text(), "a\xef\xbf\xbd");
}

TEST(answer_builder, a_stop_string_split_over_tokens) {
  answer_builder one = builder({"\n\n", "Question:"});
  EXPECT_EQ(feed(one, "Lima. Question: what"), 15U);
  EXPECT_EQ(one.finish(), finish_reason::stop);
  EXPECT_EQ(one.text(), "Lima. ");
  EXPECT_EQ(one.ids().size(), 15U);
}

TEST(answer_builder, a_stop_string_inside_one_token) {
  answer_builder one = builder({" EN"});
  feed(one, "ok");
  EXPECT_TRUE(one.push(end_piece));
  EXPECT_EQ(one.text(), "ok.");
  EXPECT_EQ(one.finish(), finish_reason::stop);
}

TEST(answer_builder, the_first_of_several_wins) {
  answer_builder one = builder({"END", ". E", "k."});
  feed(one, "ok");
  EXPECT_TRUE(one.push(end_piece));
  EXPECT_EQ(one.text(), "o");
}

TEST(answer_builder, a_false_start_is_kept) {
  answer_builder one = builder({"aab"});
  EXPECT_EQ(feed(one, "aaab"), 4U);
  EXPECT_EQ(one.text(), "a");
}

TEST(answer_builder, stop_goes_before_length) {
  answer_builder one = builder({"c"}, 3);
  feed(one, "abc");
  EXPECT_EQ(one.finish(), finish_reason::stop);
  EXPECT_EQ(one.text(), "ab");
}

TEST(answer_builder, stop_strings_match_whole_characters) {
  answer_builder two = builder({"\xc3\xa9"}); // é
  EXPECT_EQ(feed(two, "caf\xc3\xa9!"), 5U);
  EXPECT_EQ(two.text(), "caf");
  answer_builder half = builder({"\xc3", "\xa9"});
  EXPECT_EQ(feed(half, "caf\xc3\xa9!"), 6U);
  EXPECT_FALSE(half.finish());
  EXPECT_EQ(half.text(), "caf\xc3\xa9!");
}

TEST(answer_builder, an_empty_stop_string_stops_nothing) {
  answer_builder one = builder({""});
  EXPECT_EQ(feed(one, "abc"), 3U);
  EXPECT_FALSE(one.finish());
}

} // namespace
} // namespace kvloom::engine
