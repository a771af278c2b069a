// Rules of the interface that need no reference: bad text, long text, streams,
// loading.
#include "engine/tokenizer/gguf_tokenizer.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "engine/tokenizer/unicode.hpp"
#include "tests/engine/tokenizer/golden_files.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

namespace kvloom::engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::golden_path;
using test::read_golden;

std::shared_ptr<const tokenizer> golden(const std::string& name) {
  auto words = load_tokenizer(golden_path(name + ".tokenizer.json"));
  if (!words) throw std::runtime_error(to_string(words.error()));
  return *words;
}

/// A folder that goes away with the test.
class scratch_folder {
public:
  scratch_folder() {
    auto pattern
        = (fs::temp_directory_path() / "kvloom-tokenizer-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no scratch folder");
    path_ = pattern;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

TEST(tokenizer, invalid_utf8_is_refused_with_its_place) {
  const auto words = golden("gpt2_like");
  const std::string bad[] = {"ab\x80",
                             "ab\xc3",
                             "ab\xc0\xaf",
                             "ab\xed\xa0\x80",
                             "ab\xf4\x90\x80\x80",
                             "ab\xff",
                             "ab\xe2\x82z"};
  for (const auto& text : bad) {
    const auto ids = words->encode(text);
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().code, errc::bad_input);
    EXPECT_NE(ids.error().message.find("byte 2"), std::string::npos);
    EXPECT_FALSE(words->encode_with_control(text));
    EXPECT_FALSE(words->encode_inside(text));
  }
}

/// Broken runs of byte pieces: every maximal part is one U+FFFD, whole
/// characters stay (bug report T11).
TEST(tokenizer, byte_pieces_join_to_characters) {
  const auto words = golden("llama2_like");
  const auto ids = [&](std::initializer_list<const char*> pieces) {
    std::vector<token_id> out;
    for (const auto* piece : pieces) out.push_back(words->find(piece).value());
    return out;
  };
  EXPECT_EQ(words->decode(ids({"▁", "a", "<0xEA>", "<0xB9>", "<0xB0>", "a"})),
            "a\xea\xb9\xb0"
            "a");
  EXPECT_EQ(words->decode(ids({"a", "<0xEA>", "<0xB9>", "a"})), "a\xef\xbf\xbd"
                                                                "a");
  EXPECT_EQ(words->decode(ids({"<0x80>", "<0xC3>", "<0xA9>"})),
            "\xef\xbf\xbd\xc3\xa9");
}

/// An emoji over several ids is held back until it is whole (T12).
TEST(tokenizer, stream_holds_back_incomplete_characters) {
  const auto words = golden("gpt2_like");
  const std::string text = "Hello \xf0\x9f\xa6\x99 ok";
  const auto ids = words->encode(text);
  ASSERT_TRUE(ids);
  stream_decoder stream(words);
  std::string all;
  for (const auto id : *ids) {
    const auto part = stream.push(id);
    EXPECT_FALSE(find_invalid_utf8(part));
    EXPECT_EQ(part.find("\xef\xbf\xbd"), std::string::npos);
    all += part;
  }
  EXPECT_EQ(all + stream.finish(), " " + text); // add_prefix_space
  stream_decoder cut(words);
  std::string half;
  for (std::size_t i = 0; i < ids->size() / 2; ++i) half += cut.push((*ids)[i]);
  half += cut.finish();
  EXPECT_EQ(half, words->decode(std::span(*ids).first(ids->size() / 2)));
}

/// Any ids at all, unknown ones included.
TEST(tokenizer, stream_equals_decode_on_random_ids) {
  std::mt19937 random(3);
  for (const auto* name : {"gpt2_like", "llama3_like", "llama2_like",
                           "mistral_like", "word_like"}) {
    const auto words = golden(name);
    for (int round = 0; round < 300; ++round) {
      std::vector<token_id> ids(random() % 20);
      for (auto& id : ids)
        id = static_cast<token_id>(random() % (words->size() + 5)) - 2;
      stream_decoder stream(words);
      std::string text;
      for (const auto id : ids) text += stream.push(id);
      text += stream.finish();
      ASSERT_EQ(text, words->decode(ids)) << name;
      ASSERT_FALSE(find_invalid_utf8(text));
    }
  }
}

double encode_seconds(const tokenizer& words, const std::string& text) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto ids = words.encode(text);
    const std::chrono::duration<double> took
        = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(ids);
    best = std::min(best, took.count());
  }
  return best;
}

/// Four times the text may take a little over four times as long, never
/// sixteen times.
TEST(tokenizer, long_words_take_linear_time) {
  for (const auto* name : {"gpt2_like", "llama2_like", "mistral_like"}) {
    const auto words = golden(name);
    for (const std::string unit : {"a", "us", " "}) {
      std::string text;
      while (text.size() < 50'000) text += unit;
      const double once = encode_seconds(*words, text);
      const double four = encode_seconds(*words, text + text + text + text);
      EXPECT_LT(four, 9 * once + 0.01) << name << " '" << unit << "'";
    }
  }
}

/// 100,000 letters within a stack of 128 KiB.
TEST(tokenizer, long_words_take_constant_stack) {
  struct job {
    std::shared_ptr<const tokenizer> words;
    bool done = false;
  };
  for (const auto* name : {"gpt2_like", "llama3_like", "llama2_like"}) {
    job one{golden(name)};
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 128 * 1024), 0);
    pthread_t thread{};
    const auto body = [](void* raw) -> void* {
      auto& mine = *static_cast<job*>(raw);
      mine.done = mine.words->encode(std::string(100'000, 'a')).has_value()
                  && mine.words->encode(std::string(100'000, ' ')).has_value();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, &one), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_TRUE(one.done) << name;
  }
}

/// T07: "first" puts the blank at the start of a whole text only.
TEST(tokenizer, prepend_scheme_first_is_for_the_start_only) {
  const auto words = golden("mistral_like");
  const auto pieces = [&](const result<std::vector<token_id>>& ids) {
    std::string out;
    for (const auto id : ids.value()) out += words->piece(id) + "|";
    return out;
  };
  EXPECT_EQ(pieces(words->encode("a")), "▁|a|");
  EXPECT_EQ(pieces(words->encode_inside("a")), "a|");
  EXPECT_EQ(pieces(words->encode_with_control("<s>[INST]a")), "<s>|[INST]|a|");
  const auto legacy = golden("llama2_like");
  EXPECT_EQ(legacy->encode("a").value(), legacy->encode_inside("a").value());
}

/// T15: equal ids under NFC, different ones without a normalizer.
TEST(tokenizer, the_normalizer_of_the_file_is_obeyed) {
  const auto with = golden("qwen2_like");
  const auto without = golden("llama3_like");
  const std::string split = "Ra\u0301ko\u0301czi";
  const std::string whole = "R\u00e1k\u00f3czi";
  EXPECT_EQ(with->encode(split).value(), with->encode(whole).value());
  EXPECT_NE(without->encode(split).value(), without->encode(whole).value());
}

TEST(tokenizer, config_beside_the_file_rules_bos_and_template) {
  const auto text = read_golden("llama3_like.tokenizer.json").dump();
  const scratch_folder folder;
  folder.write("tokenizer.json", text);
  const auto plain = load_tokenizer(folder.path());
  ASSERT_TRUE(plain) << to_string(plain.error());
  EXPECT_TRUE((*plain)->bos());
  EXPECT_EQ((*plain)->chat_template(), "");

  folder.write("tokenizer_config.json",
               R"({"add_bos_token": false, "chat_template": "T"})");
  const auto without = load_tokenizer(folder.path());
  ASSERT_TRUE(without) << to_string(without.error());
  EXPECT_FALSE((*without)->bos());
  EXPECT_EQ((*without)->chat_template(), "T");
  EXPECT_NE((*without)->digest(), (*plain)->digest());

  folder.write("tokenizer_config.json",
               R"({"add_bos_token": true, "bos_token": {"content":
                   "<|eot_id|>"}, "chat_template": [
                   {"name": "tool_use", "template": "X"},
                   {"name": "default", "template": "D"}]})");
  const auto other = load_tokenizer(folder.path());
  ASSERT_TRUE(other) << to_string(other.error());
  EXPECT_EQ((*other)->bos(), (*other)->find("<|eot_id|>"));
  EXPECT_EQ((*other)->chat_template(), "D");

  folder.write("chat_template.jinja", "J");
  EXPECT_EQ((*load_tokenizer(folder.path()))->chat_template(), "J");

  folder.write("tokenizer_config.json", R"({"add_bos_token": true})");
  const auto wrong = load_tokenizer(folder.path());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, errc::environment);
}

TEST(tokenizer, wrong_files_say_what_is_wrong) {
  const auto spec = read_golden("gpt2_like.tokenizer.json");
  const scratch_folder folder;
  const auto load = [&](const std::string& text) {
    folder.write("tokenizer.json", text);
    return load_tokenizer(folder.path());
  };
  const auto expect = [](const result<std::shared_ptr<const tokenizer>>& made,
                         errc code, const std::string& says) {
    ASSERT_FALSE(made) << says;
    EXPECT_EQ(made.error().code, code) << to_string(made.error());
    EXPECT_NE(made.error().message.find(says), std::string::npos)
        << to_string(made.error());
    EXPECT_NE(made.error().place, "");
  };
  expect(load_tokenizer(folder.path()), errc::environment, "tokenizer.json");
  expect(load_tokenizer(folder.path() / "none.gguf"), errc::environment, "");
  expect(load("no JSON"), errc::environment, "");
  expect(load("{}"), errc::environment, "model");
  auto changed = spec;
  changed["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  expect(load(changed.dump()), errc::bad_input, "BertPreTokenizer");
  changed = spec;
  changed["model"]["type"] = "Unigram";
  expect(load(changed.dump()), errc::bad_input, "Unigram");
  changed = spec;
  changed["model"]["dropout"] = 0.1;
  expect(load(changed.dump()), errc::bad_input, "dropout");
  changed = spec;
  changed["model"]["merges"].push_back({"zz", "qq"});
  expect(load(changed.dump()), errc::environment, "zz");
  changed = spec;
  changed["model"]["merges"][0] = "a b c";
  expect(load(changed.dump()), errc::environment, "a b c");
  changed = spec;
  changed["model"]["vocab"] = 3;
  expect(load(changed.dump()), errc::environment, "");
  changed = spec;
  changed["model"]["vocab"]["again"] = 3;
  expect(load(changed.dump()), errc::environment, "again");
  changed = spec;
  changed["model"]["vocab"]["far"] = 2'000'000'000;
  expect(load(changed.dump()), errc::environment, "far");
  changed = spec;
  changed["added_tokens"][0]["content"] = "!";
  expect(load(changed.dump()), errc::bad_input, "`!`");
  changed = spec;
  changed["pre_tokenizer"] = {{"type", "Split"},
                              {"pattern", {{"Regex", "(unclosed"}}},
                              {"behavior", "Isolated"},
                              {"invert", false}};
  expect(load(changed.dump()), errc::bad_input, "(unclosed");
}

TEST(tokenizer, digest_follows_what_changes_ids) {
  const auto spec = read_golden("gpt2_like.tokenizer.json");
  const scratch_folder folder;
  folder.write("tokenizer.json", spec.dump());
  const auto one = load_tokenizer(folder.path());
  auto changed = spec;
  changed["pre_tokenizer"]["add_prefix_space"] = false;
  folder.write("tokenizer.json", changed.dump());
  const auto two = load_tokenizer(folder.path());
  ASSERT_TRUE(one && two);
  EXPECT_EQ((*one)->digest().size(), 64U);
  EXPECT_NE((*one)->digest(), (*two)->digest());
}

/// Many threads share one tokenizer.
TEST(tokenizer, threads_share_it) {
  const auto words = golden("llama3_like");
  const auto& strings = test::golden_strings();
  std::vector<std::vector<token_id>> wanted;
  for (std::size_t i = 0; i < 200; ++i)
    wanted.push_back(words->encode(strings[i]).value());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (words->encode(strings[i]).value() != wanted[i]) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace kvloom::engine
