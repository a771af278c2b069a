// Every node type on its own, equal to the reference.
#include "core/base/sha256.hpp"
#include "engine/tokenizer/decoder.hpp"
#include "engine/tokenizer/normalizer.hpp"
#include "engine/tokenizer/post_processor.hpp"
#include "engine/tokenizer/pre_tokenizer.hpp"
#include "engine/tokenizer/unicode.hpp"
#include "tests/engine/tokenizer/golden_files.hpp"

#include <gtest/gtest.h>

namespace kvloom::engine {
namespace {

using nlohmann::json;
using test::read_golden;
using test::shown;

const json& nodes() {
  static const json all = read_golden("nodes.golden.json");
  return all;
}

std::string normalised(const json& node, std::string text) {
  const auto made = make_normalizer(node);
  if (!made) return "error: " + to_string(made.error());
  if (const auto done = (*made)->apply(text); !done)
    return "error: " + to_string(done.error());
  return text;
}

std::vector<std::string> pieces(const json& node, std::string text) {
  const auto made = make_pre_tokenizer(node);
  if (!made) return {"error: " + to_string(made.error())};
  segmented_text all;
  all.segments.push_back({0, text.size(), no_token, true});
  all.text = std::move(text);
  if (all.text.empty()) all.segments.clear();
  if (const auto done = (*made)->apply(all); !done)
    return {"error: " + to_string(done.error())};
  std::vector<std::string> out;
  for (const auto& part : all.segments) out.emplace_back(all.view(part));
  return out;
}

TEST(normalizer, every_node_equals_the_reference) {
  const auto texts = nodes().at("texts").get<std::vector<std::string>>();
  for (const auto& row : nodes().at("normalizers"))
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(normalised(row[0], texts[i]), row[1][i].get<std::string>())
          << row[0] << " on " << shown(texts[i]);
}

TEST(pre_tokenizer, every_node_equals_the_reference) {
  const auto texts = nodes().at("texts").get<std::vector<std::string>>();
  for (const auto& row : nodes().at("pre_tokenizers"))
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(pieces(row[0], texts[i]),
                row[1][i].get<std::vector<std::string>>())
          << row[0] << " on " << shown(texts[i]);
}

TEST(decoder, every_node_equals_the_reference) {
  for (const auto& row : nodes().at("decoders")) {
    const auto made = decoder::make(row[0]);
    ASSERT_TRUE(made) << row[0] << to_string(made.error());
    for (const auto& one : row[1]) {
      decode_state state;
      std::string bytes;
      for (const auto& piece : one[0])
        made->append(piece.get<std::string>(), state, bytes);
      std::string text;
      utf8_repairer repair;
      repair.push(bytes, text);
      repair.finish(text);
      EXPECT_EQ(text, one[1].get<std::string>()) << row[0] << one[0];
    }
  }
}

/// The classes and mappings of all of Unicode, by digest.
TEST(nodes, every_character_equals_the_reference) {
  std::string lines;
  std::string spaced;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    if (c != '\n' && c != '\r') {
      append_char(lines, c);
      lines += '\n';
    }
    spaced += 'a';
    append_char(spaced, c);
  }
  for (const auto& row : nodes().at("all")) {
    std::string out;
    if (row[0] == "normalizer") {
      out = normalised(row[1], lines);
    } else {
      for (const auto& piece : pieces(row[1], spaced)) {
        if (!out.empty()) out += '\n';
        out += piece;
      }
    }
    EXPECT_EQ(sha256_hex(out), row[2].get<std::string>()) << row[1];
  }
}

/// Unknown types stop loading with their names; so do unknown keys.
TEST(nodes, what_is_unknown_is_named) {
  const json wrong = {{"type", "Frobnicate"}};
  const json nested = {{"type", "Sequence"},
                       {"normalizers", {wrong}},
                       {"pretokenizers", {wrong}},
                       {"processors", {wrong}},
                       {"decoders", {wrong}}};
  const auto expect_named = [](const auto& made, const char* name) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::bad_input);
    EXPECT_NE(made.error().message.find(name), std::string::npos)
        << made.error().message;
  };
  expect_named(make_normalizer(wrong), "Frobnicate");
  expect_named(make_pre_tokenizer(wrong), "Frobnicate");
  expect_named(leading_token(wrong), "Frobnicate");
  expect_named(decoder::make(wrong), "Frobnicate");
  const auto only = [&](const char* key) {
    return json{{"type", "Sequence"}, {key, nested.at(key)}};
  };
  expect_named(make_normalizer(only("normalizers")), "Frobnicate");
  expect_named(make_pre_tokenizer(only("pretokenizers")), "Frobnicate");
  expect_named(leading_token(only("processors")), "Frobnicate");
  expect_named(decoder::make(only("decoders")), "Frobnicate");
  expect_named(make_normalizer({{"type", "NFC"}, {"level", 9}}), "level");
  expect_named(
      make_pre_tokenizer(
          {{"type", "Digits"}, {"individual_digits", true}, {"hex", true}}),
      "hex");
  expect_named(make_normalizer(json::object()), "(none)");
}

TEST(nodes, nesting_is_bounded) {
  json node = {{"type", "NFC"}};
  for (int i = 0; i < 40; ++i)
    node = {{"type", "Sequence"}, {"normalizers", json::array({node})}};
  const auto made = make_normalizer(node);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::environment);
}

TEST(decoder, what_cannot_stream_is_refused) {
  const json fuse = {{"type", "Fuse"}};
  const auto sequence = [&](const json& last) {
    return json{{"type", "Sequence"}, {"decoders", {fuse, last}}};
  };
  EXPECT_FALSE(decoder::make(sequence(
      {{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}})));
  EXPECT_FALSE(decoder::make(sequence({{"type", "Replace"},
                                       {"pattern", {{"String", "a b"}}},
                                       {"content", ""}})));
  EXPECT_FALSE(decoder::make(sequence({{"type", "ByteLevel"}})));
}

TEST(post_processor, one_leading_token_is_found) {
  const auto special = [](const char* name) {
    return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json ids
      = {{"<s>", {{"id", "<s>"}, {"ids", {7}}, {"tokens", {"<s>"}}}},
         {"</s>", {{"id", "</s>"}, {"ids", {8}}, {"tokens", {"</s>"}}}}};
  const auto of = [&](json single) {
    return leading_token({{"type", "TemplateProcessing"},
                          {"single", std::move(single)},
                          {"pair", json::array()},
                          {"special_tokens", ids}});
  };
  EXPECT_EQ(of({special("<s>"), text, special("</s>")}).value(), 7);
  EXPECT_EQ(of({text, special("</s>")}).value(), std::nullopt);
  EXPECT_FALSE(of({special("<s>"), special("</s>"), text}));
  EXPECT_EQ(leading_token(json()).value(), std::nullopt);
  EXPECT_EQ(leading_token({{"type", "ByteLevel"}}).value(), std::nullopt);
}

} // namespace
} // namespace kvloom::engine
