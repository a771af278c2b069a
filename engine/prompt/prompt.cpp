#include "engine/prompt/prompt.hpp"

#include "engine/prompt/marks.hpp"

#include <algorithm>
#include <utility>

namespace kvloom::engine {

namespace {

/// Joins marks and text to ids. Text that touches is tokenised in one piece,
/// as it would be in the rendered template.
class id_builder {
public:
  explicit id_builder(const tokenizer& words) : words_(words) {}

  void start_with(token_id id) {
    ids_.push_back(id);
    inside_ = true;
  }

  /// The text that follows is not the start of the prompt.
  void go_on() { inside_ = true; }

  void add_text(std::string_view text) { text_ += text; }

  result<void> add(const mark& one) {
    if (!one.control) {
      text_ += one.text;
      return {};
    }
    const auto id = words_.find(one.text);
    if (!id)
      return fail(errc::bad_input,
                  "the chat style needs the control token `" + one.text
                      + "`, which the tokenizer lacks; declare another style");
    if (auto done = flush(); !done) return done;
    start_with(*id);
    return {};
  }

  result<void> add(const std::vector<mark>& marks) {
    for (const auto& one : marks)
      if (auto done = add(one); !done) return done;
    return {};
  }

  /// A blank at the end of the text, where the tokenizer puts one in front of
  /// the text that follows, would be there twice.
  void leave_last_blank_to_what_follows() {
    if (!text_.ends_with(' ')) return;
    const auto ids = words_.encode_inside("a");
    if (!ids || ids->empty()) return;
    decode_state state{.any = true, .stripped = true};
    std::string bytes;
    words_.decode_next(ids->front(), state, bytes);
    if (bytes.starts_with(' ')) text_.pop_back();
  }

  result<std::vector<token_id>> take() {
    if (auto done = flush(); !done) return pass_on(done);
    return std::move(ids_);
  }

private:
  result<void> flush() {
    if (text_.empty()) return {};
    auto ids = inside_ ? words_.encode_inside(text_) : words_.encode(text_);
    if (!ids) return pass_on(ids);
    ids_.insert(ids_.end(), ids->begin(), ids->end());
    text_.clear();
    inside_ = true;
    return {};
  }

  const tokenizer& words_;
  std::string text_;
  std::vector<token_id> ids_;
  bool inside_ = false;
};

/// Ids from the data: within the vocabulary, BOS in no place but the first of
/// the prompt.
result<void> check_given(const tokenizer& words, std::span<const token_id> ids,
                         bool first) {
  const auto bos = words.bos();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<std::size_t>(ids[i]) >= words.size())
      return fail(errc::bad_input, "the given id " + std::to_string(ids[i])
                                       + " at place " + std::to_string(i)
                                       + " is not in the vocabulary of "
                                       + std::to_string(words.size()) + " ids");
    if (bos && ids[i] == *bos && !(first && i == 0))
      return fail(errc::bad_input,
                  "the given ids have a BOS token (" + std::to_string(*bos)
                      + ") at place " + std::to_string(i)
                      + "; it may only be the first id of prefix_ids");
  }
  return {};
}

result<std::vector<token_id>> opening_ids(const tokenizer& words,
                                          const prompt_wording& wording,
                                          const chat_marks& marks,
                                          const question& asked) {
  if (!asked.prefix_ids.empty()) {
    if (auto ok = check_given(words, asked.prefix_ids, true); !ok)
      return pass_on(ok);
    return asked.prefix_ids;
  }
  id_builder out(words);
  if (const auto bos = words.bos()) out.start_with(*bos);
  if (auto done = out.add(marks.opening); !done) return pass_on(done);
  out.add_text(wording.instruction);
  if (wording.instruction.empty()) out.leave_last_blank_to_what_follows();
  return out.take();
}

result<std::vector<token_id>> passage_ids(const tokenizer& words,
                                          const prompt_wording& wording,
                                          const passage& one) {
  if (!one.ids.empty()) {
    if (auto ok = check_given(words, one.ids, false); !ok) return pass_on(ok);
    return one.ids;
  }
  std::string text = wording.passage_before;
  if (!one.title.empty()) text += one.title + wording.title_separator;
  text += one.text;
  text += wording.passage_after;
  // The same ids wherever the passage stands, so that its KV can be shared.
  return words.encode_inside(text);
}

result<std::vector<token_id>> closing_ids(const tokenizer& words,
                                          const prompt_wording& wording,
                                          const chat_marks& marks,
                                          const question& asked) {
  if (!asked.question_ids.empty()) {
    if (auto ok = check_given(words, asked.question_ids, false); !ok)
      return pass_on(ok);
    return asked.question_ids;
  }
  id_builder out(words);
  out.go_on();
  out.add_text(wording.question_before);
  out.add_text(asked.text);
  out.add_text(wording.question_after);
  if (auto done = out.add(marks.closing); !done) return pass_on(done);
  return out.take();
}

/// Says which question and part of it an error is about.
tl::unexpected<error> about(error what, const question& asked,
                            const std::string& part) {
  what.message = "question " + asked.id + ", " + part + ": " + what.message;
  return tl::unexpected<error>(std::move(what));
}

} // namespace

std::size_t prompt::size() const {
  std::size_t sum = 0;
  for (const auto& one : segments) sum += one.ids.size();
  return sum;
}

std::vector<token_id> prompt::ids() const {
  std::vector<token_id> all;
  all.reserve(size());
  for (const auto& one : segments)
    all.insert(all.end(), one.ids.begin(), one.ids.end());
  return all;
}

result<prompt> build_prompt(const tokenizer& words,
                            const prompt_wording& wording,
                            const question& asked,
                            std::span<const passage* const> passages) {
  const auto marks = marks_of(wording.style, wording.system, words);
  prompt made;
  made.segments.reserve(passages.size() + 2);
  auto opening = opening_ids(words, wording, marks, asked);
  if (!opening) return about(std::move(opening.error()), asked, "opening");
  made.segments.push_back({segment_role::opening, 0, std::move(*opening)});
  for (const passage* one : passages) {
    auto ids = passage_ids(words, wording, *one);
    if (!ids) {
      auto part = "passage " + std::to_string(one->index);
      if (!one->id.empty()) part += " (" + one->id + ")";
      return about(std::move(ids.error()), asked, part);
    }
    made.segments.push_back(
        {segment_role::passage, one->index, std::move(*ids)});
  }
  auto closing = closing_ids(words, wording, marks, asked);
  if (!closing) return about(std::move(closing.error()), asked, "closing");
  made.segments.push_back({segment_role::closing, 0, std::move(*closing)});
  return made;
}

} // namespace kvloom::engine
