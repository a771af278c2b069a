// Names of the chat styles, and how a model's own style is recognised.
#include "engine/prompt/prompt.hpp"

#include <array>
#include <string_view>

namespace kvloom::engine {

namespace {

constexpr std::array<std::pair<chat_style, const char*>, 5> names
    = {{{chat_style::none, "none"},
        {chat_style::chatml, "chatml"},
        {chat_style::llama2, "llama2"},
        {chat_style::llama3, "llama3"},
        {chat_style::mistral, "mistral"}}};

bool has(const tokenizer& words, std::string_view piece) {
  return words.find(piece).has_value();
}

} // namespace

const char* to_string(chat_style style) {
  for (const auto& [known, name] : names)
    if (known == style) return name;
  return "none";
}

result<chat_style> parse_chat_style(std::string_view name) {
  std::string known;
  for (const auto& [style, text] : names) {
    if (name == text) return style;
    known += known.empty() ? "" : ", ";
    known += text;
  }
  return fail(errc::bad_input, "the chat style `" + std::string(name)
                                   + "` is not known; known are " + known);
}

result<chat_style> recognise_style(const tokenizer& words) {
  const bool chatml = has(words, "<|im_start|>") && has(words, "<|im_end|>");
  const bool llama3
      = has(words, "<|start_header_id|>") && has(words, "<|eot_id|>");
  const std::string_view own = words.chat_template();
  if (own.empty()) {
    if (llama3) return chat_style::llama3;
    if (chatml) return chat_style::chatml;
    if (has(words, "[INST]") && has(words, "[/INST]"))
      return chat_style::mistral;
    return chat_style::none;
  }
  const auto says = [&](std::string_view text) {
    return own.find(text) != std::string_view::npos;
  };
  if (says("<|start_header_id|>") && llama3) return chat_style::llama3;
  if (says("<|im_start|>") && chatml) return chat_style::chatml;
  if (says("[INST]"))
    return says("<<SYS>>") ? chat_style::llama2 : chat_style::mistral;
  return fail(errc::bad_input,
              "the model's chat template is none of the known ones; declare "
              "the style of the prompt: none, chatml, llama2, llama3 or "
              "mistral");
}

} // namespace kvloom::engine
