#include "engine/tokenizer/byte_level.hpp"
#include "engine/tokenizer/gguf_tokenizer.hpp"
#include "tests/engine/tokenizer/golden_files.hpp"

#include <gtest/gtest.h>

namespace kvloom::engine {
namespace {

using test::golden_strings;
using test::read_golden;

/// A golden tokenizer.json as a GGUF file would hold it.
gguf_vocabulary as_gguf(const std::string& name, const std::string& pre) {
  const auto spec = read_golden(name + ".tokenizer.json");
  const auto& pieces = spec.at("model").at("vocab");
  gguf_vocabulary file;
  file.model = "gpt2";
  file.pre = pre;
  file.tokens.resize(pieces.size() + spec.at("added_tokens").size());
  file.types.assign(file.tokens.size(), 1);
  for (const auto& [piece, id] : pieces.items())
    file.tokens.at(id.get<std::size_t>()) = piece;
  for (const auto& token : spec.at("added_tokens")) {
    const auto id = token.at("id").get<std::size_t>();
    file.tokens.at(id) = token.at("content");
    file.types.at(id) = token.at("special").get<bool>() ? 3 : 4;
  }
  for (const auto& merge : spec.at("model").at("merges"))
    file.merges.push_back(merge.is_string()
                              ? merge.get<std::string>()
                              : merge[0].get<std::string>() + " "
                                    + merge[1].get<std::string>());
  return file;
}

void expect_golden(const tokenizer& words, const std::string& name) {
  const auto golden = read_golden(name + ".golden.json");
  const auto& strings = golden_strings();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const auto ids = words.encode(strings[i]);
    ASSERT_TRUE(ids) << to_string(ids.error());
    ASSERT_EQ(test::packed_ids(*ids), golden.at("ids")[i])
        << i << " " << test::shown(strings[i]);
  }
}

TEST(gguf_tokenizer, named_pre_tokenizers_equal_the_models_own) {
  for (const auto& [golden, pre] : {std::pair{"llama3_like", "llama-bpe"},
                                    {"llama3_like", "llama3"},
                                    {"qwen2_like", "qwen2"}}) {
    const auto words = make_gguf_tokenizer(as_gguf(golden, pre));
    ASSERT_TRUE(words) << to_string(words.error());
    expect_golden(**words, golden);
  }
}

TEST(gguf_tokenizer, default_is_the_chain_and_not_gpt2) {
  const auto of = [](const char* pre) {
    return make_gguf_tokenizer(as_gguf("falcon_like", pre)).value();
  };
  const std::string text = "In 1999-2000, 12345 people paid $6789.";
  EXPECT_NE(of("default")->encode(text).value(),
            of("gpt-2")->encode(text).value());
}

TEST(gguf_tokenizer, unknown_names_are_refused) {
  auto file = as_gguf("qwen2_like", "chatglm-bpe");
  auto made = make_gguf_tokenizer(file);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::bad_input);
  EXPECT_NE(made.error().message.find("chatglm-bpe"), std::string::npos);
  EXPECT_NE(made.error().message.find("smollm"), std::string::npos);
  file.pre.clear();
  made = make_gguf_tokenizer(file);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("tokenizer.ggml.pre"), std::string::npos);
  file.model = "t5";
  made = make_gguf_tokenizer(file);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("t5"), std::string::npos);
}

TEST(gguf_tokenizer, bos_follows_the_file_then_the_kind) {
  auto file = as_gguf("llama3_like", "llama-bpe");
  const auto bos_of = [&] { return make_gguf_tokenizer(file).value()->bos(); };
  EXPECT_EQ(bos_of(), std::nullopt); // the file names none
  for (std::size_t i = 0; i < file.tokens.size(); ++i)
    if (file.tokens[i] == "<|begin_of_text|>")
      file.bos = static_cast<token_id>(i);
  EXPECT_EQ(bos_of(), file.bos);
  file.add_bos = false;
  EXPECT_EQ(bos_of(), std::nullopt);
  file.pre = "smollm";
  file.add_bos.reset();
  EXPECT_EQ(bos_of(), std::nullopt);
  file.add_bos = true;
  EXPECT_EQ(bos_of(), file.bos);
  file.bos = 1'000'000;
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file.bos.reset();
  EXPECT_FALSE(make_gguf_tokenizer(file));
}

TEST(gguf_tokenizer, contradictions_are_refused) {
  const auto good = as_gguf("llama3_like", "llama-bpe");
  ASSERT_TRUE(make_gguf_tokenizer(good));
  auto file = good;
  file.types.pop_back();
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file = good;
  file.types[0] = 9;
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file = good;
  file.merges.emplace_back("nogap");
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file = good;
  file.merges.emplace_back("no such");
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file = good;
  file.tokens.clear();
  file.types.clear();
  EXPECT_FALSE(make_gguf_tokenizer(file));
  file = good;
  file.model = "llama"; // and no scores
  EXPECT_FALSE(make_gguf_tokenizer(file));
}

/// A small SentencePiece vocabulary, written by hand.
gguf_vocabulary pieces_file() {
  gguf_vocabulary file;
  file.model = "llama";
  const auto add = [&](const std::string& piece, float score, int type) {
    file.tokens.push_back(piece);
    file.scores.push_back(score);
    file.types.push_back(type);
  };
  add("<unk>", 0, 2);
  add("<s>", 0, 3);
  add("</s>", 0, 3);
  for (const char c : std::string("abs<>/")) add(std::string(1, c), -9, 1);
  add("\xe2\x96\x81", -1, 1);
  add("ab", -1, 1);
  add("s>", -2, 1);
  add("aba", -3, 5); // unused: taken apart again
  add("<|user|>", 0, 4);
  file.unknown = 0;
  file.bos = 1;
  return file;
}

std::string pieces_of(const tokenizer& words, const std::string& text) {
  const auto ids = words.encode(text).value();
  std::string out;
  for (const auto id : ids) out += words.piece(id) + "|";
  return out;
}

TEST(gguf_tokenizer, pieces_of_the_llama_kind) {
  const auto words = make_gguf_tokenizer(pieces_file()).value();
  EXPECT_EQ(pieces_of(*words, "ab"), "▁|ab|");
  // Joined by its parts' scores, then taken apart as they were joined.
  EXPECT_EQ(pieces_of(*words, "aba"), "▁|ab|a|");
  // "<" and "s>" would join to the control token's spelling.
  EXPECT_EQ(pieces_of(*words, "<s>"), "▁|<|s>|");
  EXPECT_EQ(pieces_of(*words, "a<|user|>b"), "▁|a|<|user|>|▁|b|");
  // No byte pieces here: the unknown token.
  EXPECT_EQ(pieces_of(*words, "aéb"), "▁|a|<unk>|b|");
  EXPECT_EQ(words->decode(words->encode("ab ab").value()), "ab ab");
  auto file = pieces_file();
  file.add_space_prefix = false;
  const auto bare = make_gguf_tokenizer(file).value();
  EXPECT_EQ(pieces_of(*bare, "ab"), "ab|");
  EXPECT_EQ(bare->decode(bare->encode(" ab").value()), " ab");
  EXPECT_NE(bare->digest(), words->digest());
  file.unknown.reset();
  EXPECT_FALSE(make_gguf_tokenizer(file).value()->encode("é"));
}

} // namespace
} // namespace kvloom::engine
