#include "engine/prompt/marks.hpp"

#include <string_view>

namespace kvloom::engine {

namespace {

mark control(std::string text) {
  return {std::move(text), true};
}

mark plain(std::string text) {
  return {std::move(text), false};
}

chat_marks chatml(const std::string& system) {
  chat_marks marks;
  auto& opening = marks.opening;
  if (!system.empty())
    opening = {control("<|im_start|>"), plain("system\n" + system),
               control("<|im_end|>"), plain("\n")};
  opening.push_back(control("<|im_start|>"));
  opening.push_back(plain("user\n"));
  marks.closing = {control("<|im_end|>"), plain("\n"), control("<|im_start|>"),
                   plain("assistant\n")};
  return marks;
}

void llama3_turn(std::vector<mark>& into, const std::string& role) {
  into.push_back(control("<|start_header_id|>"));
  into.push_back(plain(role));
  into.push_back(control("<|end_header_id|>"));
  into.push_back(plain("\n\n"));
}

chat_marks llama3(const std::string& system) {
  chat_marks marks;
  if (!system.empty()) {
    llama3_turn(marks.opening, "system");
    marks.opening.push_back(plain(system));
    marks.opening.push_back(control("<|eot_id|>"));
  }
  llama3_turn(marks.opening, "user");
  marks.closing.push_back(control("<|eot_id|>"));
  llama3_turn(marks.closing, "assistant");
  return marks;
}

chat_marks llama2(const std::string& system) {
  std::string opening = "[INST] ";
  if (!system.empty()) opening += "<<SYS>>\n" + system + "\n<</SYS>>\n\n";
  return {{plain(std::move(opening))}, {plain(" [/INST]")}};
}

/// From its third tokenizer on, Mistral's marks are control tokens; the blanks
/// around them changed with the versions, and the model's template has them.
chat_marks mistral(const std::string& system, const tokenizer& words) {
  const std::string_view own = words.chat_template();
  const auto says = [&](std::string_view text) {
    return own.find(text) != std::string_view::npos;
  };
  const bool tokens = words.find("[INST]") && words.find("[/INST]");
  chat_marks marks;
  const bool blank_behind = own.empty() || says("[INST] ");
  const bool blank_before = !tokens || says(" [/INST]");
  marks.opening.push_back({"[INST]", tokens});
  std::string text = blank_behind ? " " : "";
  if (!system.empty()) text += system + "\n\n";
  marks.opening.push_back(plain(std::move(text)));
  if (blank_before) marks.closing.push_back(plain(" "));
  marks.closing.push_back({"[/INST]", tokens});
  return marks;
}

} // namespace

chat_marks marks_of(chat_style style, const std::string& system,
                    const tokenizer& words) {
  switch (style) {
  case chat_style::none:
    break;
  case chat_style::chatml:
    return chatml(system);
  case chat_style::llama2:
    return llama2(system);
  case chat_style::llama3:
    return llama3(system);
  case chat_style::mistral:
    return mistral(system, words);
  }
  chat_marks marks;
  if (!system.empty()) marks.opening.push_back(plain(system + "\n\n"));
  return marks;
}

} // namespace kvloom::engine
