#include "engine/tokenizer/graph_tokenizer.hpp"

#include "engine/tokenizer/unicode.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace kvloom::engine {

namespace {

class graph_tokenizer final : public tokenizer {
public:
  explicit graph_tokenizer(tokenizer_parts parts) : parts_(std::move(parts)) {}

  result<void> set_up() {
    size_ = parts_.words->size();
    for (const auto& token : parts_.added) {
      if (token.content.empty()) continue;
      if (token.id < 0)
        return fail(errc::environment, "the added token `" + token.content
                                           + "` has the id "
                                           + std::to_string(token.id));
      const auto known = parts_.words->find(token.content);
      if (known && *known != token.id)
        return fail(errc::bad_input,
                    "the added token `" + token.content + "` has the id "
                        + std::to_string(token.id)
                        + ", the vocabulary gives it " + std::to_string(*known)
                        + "; ids could differ");
      size_ = std::max(size_, static_cast<std::size_t>(token.id) + 1);
      by_content_.emplace(token.content, token.id);
      // The reference spells such a token as it is looked for.
      std::string pattern = token.content;
      if (token.normalized && parts_.rewrite)
        if (auto done = parts_.rewrite->apply(pattern); !done) return done;
      (token.normalized ? normalised_ : raw_).add(pattern, token);
      by_id_.emplace(token.id,
                     spelled_token{std::move(pattern), token.special});
    }
    return {};
  }

  result<std::vector<token_id>> encode(std::string_view text) const override {
    return run(text, true, false);
  }

  result<std::vector<token_id>>
  encode_inside(std::string_view text) const override {
    return run(text, false, false);
  }

  result<std::vector<token_id>>
  encode_with_control(std::string_view text) const override {
    return run(text, true, true);
  }

  std::string decode(std::span<const token_id> ids) const override {
    std::string bytes;
    decode_state state;
    for (const token_id id : ids) decode_next(id, state, bytes);
    std::string text;
    utf8_repairer repair;
    repair.push(bytes, text);
    repair.finish(text);
    return text;
  }

  void decode_next(token_id id, decode_state& state,
                   std::string& bytes) const override {
    const auto added = by_id_.find(id);
    if (added != by_id_.end()) {
      if (!added->second.special)
        parts_.spell.append(added->second.text, state, bytes);
    } else if (const auto* known = parts_.words->piece(id)) {
      parts_.spell.append(*known, state, bytes);
    }
  }

  std::optional<token_id> find(std::string_view piece) const override {
    const auto added = by_content_.find(piece);
    if (added != by_content_.end()) return added->second;
    return parts_.words->find(piece);
  }

  std::string piece(token_id id) const override {
    const auto added = by_id_.find(id);
    if (added != by_id_.end()) return added->second.text;
    const auto* known = parts_.words->piece(id);
    return known != nullptr ? *known : std::string();
  }

  std::size_t size() const override { return size_; }
  std::optional<token_id> bos() const override { return parts_.bos; }
  const std::string& digest() const override { return parts_.digest; }
  const std::string& chat_template() const override {
    return parts_.chat_template;
  }

private:
  struct spelled_token {
    std::string text;
    bool special = false;
  };

  result<std::vector<token_id>> run(std::string_view text, bool at_start,
                                    bool with_special) const {
    if (const auto wrong = find_invalid_utf8(text))
      return fail(errc::bad_input,
                  "the text is not valid UTF-8 from byte "
                      + std::to_string(*wrong)
                      + " on; convert it or replace that byte by U+FFFD");
    std::vector<token_id> ids;
    if (text.empty()) return ids;
    segmented_text all;
    all.text = std::string(text);
    all.segments.push_back({0, text.size(), no_token, at_start});
    raw_.split(all, with_special);
    if (auto done = normalise(all); !done) return pass_on(done);
    normalised_.split(all, with_special);
    if (parts_.cut)
      if (auto done = parts_.cut->apply(all); !done) return pass_on(done);
    ids.reserve(text.size() / 3 + 1);
    for (const auto& part : all.segments) {
      if (part.id != no_token) {
        ids.push_back(part.id);
      } else if (auto done = parts_.model->append(all.view(part), ids); !done) {
        return pass_on(done);
      }
    }
    return ids;
  }

  result<void> normalise(segmented_text& all) const {
    if (!parts_.rewrite) return {};
    result<void> state;
    std::string piece;
    rewrite_segments(
        all, [&](std::string_view view, const text_segment&, std::string& out) {
          if (!state) return;
          piece = view;
          state = parts_.rewrite->apply(piece);
          out += piece;
        });
    return state;
  }

  tokenizer_parts parts_;
  std::unordered_map<token_id, spelled_token> by_id_;
  std::unordered_map<std::string_view, token_id> by_content_;
  added_token_matcher raw_;        ///< in the text as it came
  added_token_matcher normalised_; ///< in the normalised text
  std::size_t size_ = 0;
};

} // namespace

result<std::shared_ptr<const tokenizer>>
make_graph_tokenizer(tokenizer_parts parts) {
  auto made = std::make_shared<graph_tokenizer>(std::move(parts));
  if (auto ready = made->set_up(); !ready) return pass_on(ready);
  return std::shared_ptr<const tokenizer>(std::move(made));
}

} // namespace kvloom::engine
