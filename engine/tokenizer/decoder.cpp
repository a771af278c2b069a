#include "engine/tokenizer/decoder.hpp"

#include "engine/tokenizer/byte_level.hpp"
#include "engine/tokenizer/byte_pieces.hpp"
#include "engine/tokenizer/json_node.hpp"
#include "engine/tokenizer/split_json.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <utility>

namespace kvloom::engine {

namespace {

constexpr std::string_view part = "decoder";

std::string replaced(std::string_view text, std::string_view what,
                     std::string_view by) {
  std::string out;
  std::size_t done = 0;
  for (auto at = text.find(what); at != std::string_view::npos;
       at = text.find(what, done)) {
    out += text.substr(done, at - done);
    out += by;
    done = at + what.size();
  }
  out += text.substr(done);
  return out;
}

} // namespace

result<decoder> decoder::make(const nlohmann::json& node) {
  decoder made;
  if (node.is_null()) {
    made.blanks_between_ = true;
    return made;
  }
  if (auto done = made.add(node, 0); !done) return pass_on(done);
  return made;
}

result<void> decoder::add(const nlohmann::json& node, int depth) {
  const auto type = node_type(node);
  if (type == "Sequence") {
    if (auto ok = only_keys(node, part, {"decoders"}); !ok) return ok;
    if (depth >= max_node_depth)
      return malformed_node(part, node, "a nesting of at most 16");
    for (const auto& inner : node.at("decoders"))
      if (auto done = add(inner, depth + 1); !done) return done;
    return {};
  }
  if (type == "Replace") return add_replace(node);
  if (type == "Metaspace") return add_metaspace(node);
  if (type == "Strip") return add_strip(node);
  if (type == "Fuse" || type == "ByteFallback") {
    if (auto ok = only_keys(node, part, {}); !ok) return ok;
    if (type == "Fuse") {
      fused_ = true;
      return {};
    }
    if (fused_)
      return malformed_node(part, node, "to stand before what joins pieces");
    as_bytes_ = true;
    steps_.emplace_back(byte_fallback_step{});
    return {};
  }
  if (type == "ByteLevel") {
    if (auto ok = only_keys(node, part,
                            {"add_prefix_space", "trim_offsets", "use_regex"});
        !ok)
      return ok;
    if (fused_ || as_bytes_)
      return malformed_node(part, node, "to stand before what joins pieces");
    fused_ = as_bytes_ = true;
    steps_.emplace_back(byte_level_step{});
    return {};
  }
  return unknown_node(part, node);
}

result<void> decoder::add_replace(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part, {"pattern", "content"}); !ok) return ok;
  auto pattern = make_split_pattern(part, node);
  if (!pattern) return pass_on(pattern);
  if (fused_ || as_bytes_)
    return malformed_node(part, node, "to stand before what joins pieces");
  steps_.emplace_back(
      replace_step{std::move(*pattern), node.at("content").get<std::string>()});
  return {};
}

result<void> decoder::add_metaspace(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part,
                          {"replacement", "add_prefix_space", "prepend_scheme",
                           "split", "str_rep"});
      !ok)
    return ok;
  if (fused_ || as_bytes_)
    return malformed_node(part, node, "to stand before what joins pieces");
  const bool prefix = node.value("add_prefix_space", true);
  const auto scheme
      = node.value("prepend_scheme", std::string(prefix ? "always" : "never"));
  auto replacement = node.at("replacement").get<std::string>();
  if (replacement.empty())
    return malformed_node(part, node, "a replacement of one character");
  steps_.emplace_back(
      metaspace_step{std::move(replacement), scheme != "never"});
  return {};
}

result<void> decoder::add_strip(const nlohmann::json& node) {
  if (auto ok = only_keys(node, part, {"content", "start", "stop"}); !ok)
    return ok;
  strip_step one{node.at("content").get<std::string>(),
                 node.at("start").get<std::size_t>(),
                 node.at("stop").get<std::size_t>()};
  if (one.content.empty())
    return malformed_node(part, node, "a content of one character");
  if (!fused_ && !as_bytes_) {
    steps_.emplace_back(std::move(one));
    return {};
  }
  // What is cut from the end is known only when the text has ended.
  if (one.stop != 0 || one.content.size() != 1
      || (strip_count_ != 0 && strip_char_ != one.content[0]) || !fused_)
    return malformed_node(part, node,
                          "after Fuse: stop 0 and an ASCII character");
  strip_char_ = one.content[0];
  strip_count_ += one.start;
  return {};
}

void decoder::run(const step& one, bool first, std::string& piece) {
  if (const auto* replace = std::get_if<replace_step>(&one)) {
    std::vector<stretch> found;
    // A pattern that gives up leaves the piece as it is; pieces are short.
    if (!find_stretches(replace->pattern, piece, found)) return;
    std::string out;
    for (const auto& at : found) {
      if (at.match)
        out += replace->content;
      else
        out.append(piece, at.begin, at.end - at.begin);
    }
    piece = std::move(out);
  } else if (const auto* space = std::get_if<metaspace_step>(&one)) {
    piece = replaced(piece, space->replacement,
                     first && space->drop_in_first ? "" : " ");
  } else if (const auto* strip = std::get_if<strip_step>(&one)) {
    std::string_view rest = piece;
    for (std::size_t i = 0; i < strip->start; ++i)
      if (rest.starts_with(strip->content))
        rest.remove_prefix(strip->content.size());
    for (std::size_t i = 0; i < strip->stop; ++i)
      if (rest.ends_with(strip->content))
        rest.remove_suffix(strip->content.size());
    piece = std::string(rest);
  } else if (std::holds_alternative<byte_fallback_step>(one)) {
    if (const auto byte = byte_of_piece(piece))
      piece.assign(1, static_cast<char>(*byte));
  } else if (auto bytes = from_byte_chars(piece)) {
    // Other pieces are added tokens, which stand for themselves.
    piece = std::move(*bytes);
  }
}

void decoder::append(std::string_view piece, decode_state& state,
                     std::string& bytes) const {
  std::string text(piece);
  for (const auto& one : steps_) run(one, !state.any, text);
  if (blanks_between_ && state.any) bytes += ' ';
  state.any = true;
  std::string_view rest = text;
  while (!state.stripped && !rest.empty()) {
    if (state.strip_count < strip_count_ && rest[0] == strip_char_) {
      rest.remove_prefix(1);
      ++state.strip_count;
    } else {
      state.stripped = true;
    }
  }
  bytes += rest;
}

} // namespace kvloom::engine
