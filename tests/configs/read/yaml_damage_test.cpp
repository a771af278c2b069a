// Damaged text ends in a tree or in problems with places: never in a crash,
// a hang or a silent nothing.
#include "configs/read/yaml_reader.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kvloom::configs {
namespace {

constexpr const char* sound = R"(%YAML 1.2
---
schema: kvloom/graph/1  # why
name: "small \u00e9 \x41"
model: &m {path: 'a b.gguf', threads: 2}
actors:
  questions: {type: question_source, params: {path: data.json, limit: 7}}
  retriever:
    type: retriever
    params:
      top_k: 4
      words: [a, "b,c", 'it''s', ~]
      text: |
        one
          two
      folded: >-
        one
        two
edges:
  - {from: questions.question, to: retriever.question, credit: 8}
  - from: retriever.retrieved
    to: results.answer
other: *m
...
)";

void check(const std::string& text) {
  const auto document = read_yaml(text, "t");
  EXPECT_TRUE(document.root || !document.problems.empty()) << text;
  for (const diagnostic& one : document.problems) {
    EXPECT_EQ(one.place.file, "t");
    EXPECT_FALSE(one.message.empty());
    EXPECT_EQ(to_string(one).find('\n'), std::string::npos) << text;
  }
}

TEST(damaged_yaml, the_sound_text_is_fine) {
  EXPECT_TRUE(read_yaml(sound, "t").problems.empty());
}

TEST(damaged_yaml, cut_anywhere) {
  const std::string text = sound;
  for (std::size_t i = 0; i <= text.size(); ++i) check(text.substr(0, i));
}

TEST(damaged_yaml, bytes_replaced_removed_inserted) {
  std::mt19937 random(7);
  const std::string special = "{}[]:,-?&*!|>'\"%@`#~ \t\n\r\\<=.0a";
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 6000; ++round) {
    std::string text = sound;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
      case 0:
        text[at] = special[below(special.size())];
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, 1, special[below(special.size())]);
        break;
      default:
        text[at] = static_cast<char>(below(256));
      }
    }
    check(text);
  }
}

TEST(damaged_yaml, special_characters_alone) {
  std::mt19937 random(8);
  const std::string special = "{}[]:,-?&*!|>'\"%@`#~ \t\n\\<a";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t n = 1 + random() % 24; n > 0; --n)
      text += special[random() % special.size()];
    check(text);
  }
}

} // namespace
} // namespace kvloom::configs
