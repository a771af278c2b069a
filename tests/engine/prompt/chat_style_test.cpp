#include "engine/prompt/prompt.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kvloom::engine {
namespace {

/// Knows the spelling of some tokens and a template, no more.
class named_tokens final : public tokenizer {
public:
  named_tokens(std::vector<std::string> pieces, std::string text)
      : pieces_(std::move(pieces)), template_(std::move(text)) {}

  result<std::vector<token_id>> encode(std::string_view) const override {
    return std::vector<token_id>{};
  }
  result<std::vector<token_id>> encode_inside(std::string_view) const override {
    return std::vector<token_id>{};
  }
  result<std::vector<token_id>>
  encode_with_control(std::string_view) const override {
    return std::vector<token_id>{};
  }
  std::string decode(std::span<const token_id>) const override { return {}; }
  void decode_next(token_id, decode_state&, std::string&) const override {}
  std::optional<token_id> find(std::string_view piece) const override {
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i] == piece) return static_cast<token_id>(i);
    return std::nullopt;
  }
  std::string piece(token_id id) const override {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  std::size_t size() const override { return pieces_.size(); }
  std::optional<token_id> bos() const override { return std::nullopt; }
  const std::string& digest() const override { return template_; }
  const std::string& chat_template() const override { return template_; }

private:
  std::vector<std::string> pieces_;
  std::string template_;
};

chat_style style_of(std::vector<std::string> pieces, std::string text) {
  return recognise_style(named_tokens(std::move(pieces), std::move(text)))
      .value();
}

const std::vector<std::string> chatml = {"<|im_start|>", "<|im_end|>"};
const std::vector<std::string> llama3 = {"<|start_header_id|>", "<|eot_id|>"};

TEST(chat_style, is_recognised_by_the_template) {
  EXPECT_EQ(style_of(chatml, "{{'<|im_start|>' + role}}"), chat_style::chatml);
  EXPECT_EQ(style_of(llama3, "{{'<|start_header_id|>'}}"), chat_style::llama3);
  EXPECT_EQ(style_of({}, "[INST] <<SYS>>"), chat_style::llama2);
  EXPECT_EQ(style_of({}, "'[INST] ' + content"), chat_style::mistral);
}

TEST(chat_style, is_recognised_by_control_tokens) {
  EXPECT_EQ(style_of(chatml, ""), chat_style::chatml);
  EXPECT_EQ(style_of(llama3, ""), chat_style::llama3);
  EXPECT_EQ(style_of({"[INST]", "[/INST]"}, ""), chat_style::mistral);
  EXPECT_EQ(style_of({"a"}, ""), chat_style::none);
}

TEST(chat_style, an_unknown_template_is_refused) {
  for (const auto* text : {"<|user|>{{content}}", "<|im_start|>"}) {
    const auto style = recognise_style(named_tokens({"a"}, text));
    ASSERT_FALSE(style);
    EXPECT_EQ(style.error().code, errc::bad_input);
  }
}

TEST(chat_style, names_go_both_ways) {
  for (const auto style :
       {chat_style::none, chat_style::chatml, chat_style::llama2,
        chat_style::llama3, chat_style::mistral})
    EXPECT_EQ(parse_chat_style(to_string(style)).value(), style);
  const auto wrong = parse_chat_style("chatlm");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("chatml"), std::string::npos);
}

} // namespace
} // namespace kvloom::engine
