#include "storage/simulate/read_trace.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace kvloom::storage {

namespace {

using nlohmann::json;

constexpr std::int64_t mooncake_block_tokens = 512;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

/// A whole number of at least `least`, else nothing.
std::optional<std::int64_t> whole(const json& value, std::int64_t least) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()
      && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most_tokens))
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (number < least) return std::nullopt;
  return number;
}

/// A value as a message shows it.
std::string shown(const json& value) {
  auto text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  constexpr std::size_t most = 40;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

class trace_reader {
public:
  explicit trace_reader(const std::string& place) : place_(place) {}

  result<trace> read(std::string_view text) {
    std::size_t line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      const auto end = std::min(text.find('\n', begin), text.size());
      const auto one = text.substr(begin, end - begin);
      begin = end + 1;
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      line_ = line;
      if (auto added = add_request(one); !added) return pass_on(added);
    }
    if (out_.n_requests() == 0)
      return fail(errc::bad_input, "holds no request; wanted JSON lines",
                  place_);
    return std::move(out_);
  }

private:
  tl::unexpected<error> wrong(std::string message) const {
    return fail(errc::bad_input, std::move(message),
                place_ + ":" + std::to_string(line_));
  }

  result<void> add_request(std::string_view text) {
    const auto request = json::parse(text, nullptr, false);
    if (request.is_discarded())
      return wrong("is no JSON; wanted one request a line");
    if (!request.is_object())
      return wrong("found " + shown(request) + ", wanted an object");
    const auto chunks = request.find("chunks");
    const auto blocks = request.find("hash_ids");
    if ((chunks == request.end()) == (blocks == request.end())) {
      return wrong("a request has either `chunks` or, in the Mooncake form, "
                   "`hash_ids` and `input_length`");
    }
    auto added = chunks != request.end() ? add_chunks(*chunks)
                                         : add_blocks(request, *blocks);
    if (!added) return added;
    out_.first_use.push_back(out_.uses.size());
    return {};
  }

  result<void> add_chunks(const json& chunks) {
    if (!chunks.is_array())
      return wrong("`chunks` is " + shown(chunks) + ", wanted a list");
    for (const auto& chunk : chunks) {
      if (!chunk.is_object() || !chunk.contains("id")
          || !chunk.contains("tokens")) {
        return wrong("found the chunk " + shown(chunk)
                     + ", wanted {\"id\": ..., \"tokens\": n}");
      }
      const auto tokens = whole(chunk["tokens"], 1);
      if (!tokens) {
        return wrong("`tokens` is " + shown(chunk["tokens"])
                     + ", wanted a whole number from 1");
      }
      if (auto added = add_use(chunk["id"], *tokens); !added) return added;
    }
    return {};
  }

  result<void> add_blocks(const json& request, const json& blocks) {
    if (!blocks.is_array())
      return wrong("`hash_ids` is " + shown(blocks) + ", wanted a list");
    const auto given = request.find("input_length");
    const auto length
        = given == request.end() ? std::nullopt : whole(*given, 0);
    if (!length) {
      return wrong("`input_length` is "
                   + (given == request.end() ? "missing" : shown(*given))
                   + ", wanted a whole number");
    }
    const auto wanted
        = (*length + mooncake_block_tokens - 1) / mooncake_block_tokens;
    if (wanted != static_cast<std::int64_t>(blocks.size())) {
      return wrong("`hash_ids` has " + std::to_string(blocks.size())
                   + " blocks; an `input_length` of " + std::to_string(*length)
                   + " has " + std::to_string(wanted) + " of 512 tokens");
    }
    auto left = *length;
    for (const auto& id : blocks) {
      const auto tokens = std::min(left, mooncake_block_tokens);
      if (auto added = add_use(id, tokens); !added) return added;
      left -= tokens;
    }
    return {};
  }

  result<void> add_use(const json& id, std::int64_t tokens) {
    if (!id.is_string() && !id.is_number_integer())
      return wrong("found the id " + shown(id)
                   + ", wanted a text or a whole number");
    const auto name = id.is_string() ? id.get<std::string>() : id.dump();
    const auto [at, is_new] = numbers_.try_emplace(
        name, static_cast<std::uint32_t>(numbers_.size()));
    const auto chunk = at->second;
    if (is_new) {
      out_.tokens.push_back(tokens);
      first_line_.push_back(line_);
      last_line_.push_back(0);
    } else if (out_.tokens[chunk] != tokens) {
      return wrong("chunk " + shown(id) + " has " + std::to_string(tokens)
                   + " tokens, but " + std::to_string(out_.tokens[chunk])
                   + " on line " + std::to_string(first_line_[chunk])
                   + "; an id must be one chunk");
    }
    if (!is_new && last_line_[chunk] == line_) return {};
    last_line_[chunk] = line_;
    out_.uses.push_back(chunk);
    return {};
  }

  std::string place_;
  std::size_t line_ = 0;
  trace out_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::size_t> first_line_; ///< [n_chunks]
  std::vector<std::size_t> last_line_;  ///< [n_chunks]
};

} // namespace

result<trace> read_trace(std::string_view text, const std::string& place) {
  return trace_reader(place).read(text);
}

} // namespace kvloom::storage
