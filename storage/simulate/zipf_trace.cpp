#include "storage/simulate/zipf_trace.hpp"

#include "core/base/random.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace kvloom::storage {

namespace {

constexpr std::int64_t most_chunks = 100'000'000;
constexpr std::int64_t most_requests = 1'000'000'000;
constexpr std::int64_t most_in_request = 100'000;
constexpr std::int64_t most_tokens = 10'000'000;
constexpr std::int64_t most_uses = 1'000'000'000; // memory: 12 bytes a use

/// Draws ranks 0..n-1 in constant time (Walker's alias method, in Vose's
/// construction).
class rank_drawer {
public:
  rank_drawer(std::size_t n, double exponent) : keep_(n), other_(n) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k)
      sum += keep_[k] = std::pow(static_cast<double>(k + 1), -exponent);
    std::vector<std::uint32_t> small, large;
    for (std::size_t k = 0; k < n; ++k) {
      keep_[k] *= static_cast<double>(n) / sum;
      other_[k] = static_cast<std::uint32_t>(k);
      (keep_[k] < 1 ? small : large).push_back(other_[k]);
    }
    while (!small.empty() && !large.empty()) {
      const auto low = small.back();
      const auto high = large.back();
      small.pop_back();
      other_[low] = high;
      keep_[high] -= 1 - keep_[low];
      if (keep_[high] < 1) {
        large.pop_back();
        small.push_back(high);
      }
    }
    // What is left has a weight of 1 but for rounding.
    for (const auto k : small) keep_[k] = 1;
    for (const auto k : large) keep_[k] = 1;
  }

  std::uint32_t draw(random_stream& random) const {
    const auto column = static_cast<std::uint32_t>(random.below(keep_.size()));
    return random.uniform() < keep_[column] ? column : other_[column];
  }

private:
  std::vector<double> keep_;         ///< [n]
  std::vector<std::uint32_t> other_; ///< [n]
};

template <class T>
std::optional<T> number(std::string_view text, T least, T most) {
  T value{};
  const auto* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end) return std::nullopt;
  if (!(value >= least && value <= most)) return std::nullopt;
  return value;
}

tl::unexpected<error> wrong(std::string_view key, std::string_view found,
                            std::string_view wanted) {
  std::string message("`");
  message.append(key).append("` is `").append(found);
  message.append("`, wanted ").append(wanted);
  return fail(errc::bad_input, std::move(message));
}

result<void> set_whole(std::int64_t& target, std::string_view key,
                       std::string_view text, std::int64_t most) {
  const auto value = number<std::int64_t>(text, 1, most);
  if (!value)
    return wrong(key, text, "a whole number from 1 to " + std::to_string(most));
  target = *value;
  return {};
}

result<void> set_real(double& target, std::string_view key,
                      std::string_view text, double most,
                      std::string_view wanted) {
  const auto value = number<double>(text, 0, most);
  if (!value) return wrong(key, text, wanted);
  target = *value;
  return {};
}

/// `512` or `200..900`.
result<void> set_tokens(zipf_options& out, std::string_view text) {
  const auto dots = text.find("..");
  const auto low = text.substr(0, dots);
  const auto high
      = dots == std::string_view::npos ? low : text.substr(dots + 2);
  const auto least = number<std::int64_t>(low, 1, most_tokens);
  const auto most = number<std::int64_t>(high, 1, most_tokens);
  if (!least || !most || *least > *most)
    return wrong("tokens", text, "a number (512) or a range (200..900)");
  out.min_tokens = *least;
  out.max_tokens = *most;
  return {};
}

result<void> set_option(zipf_options& out, std::string_view key,
                        std::string_view text) {
  if (key == "n") return set_whole(out.n, key, text, most_chunks);
  if (key == "requests")
    return set_whole(out.requests, key, text, most_requests);
  if (key == "chunks") return set_whole(out.chunks, key, text, most_in_request);
  if (key == "tokens") return set_tokens(out, text);
  if (key == "s") return set_real(out.s, key, text, 20, "0 to 20");
  if (key == "drift")
    return set_real(out.drift, key, text, 1e6, "ranks a request, 0 to 1000000");
  if (key == "repeat")
    return set_real(out.repeat, key, text, 1, "a chance, 0 to 1");
  return fail(errc::bad_input,
              "there is no `" + std::string(key)
                  + "`; known: n, s, requests, chunks, tokens, drift, repeat");
}

/// The chunks of one request after the other.
class request_maker {
public:
  request_maker(const zipf_options& options, std::uint64_t seed)
      : options_(options), random_(seed, "zipf"),
        ranks_(static_cast<std::size_t>(options.n), options.s),
        used_in_(static_cast<std::size_t>(options.n), never) {}

  void add(trace& out, std::uint32_t request) {
    const auto n = static_cast<std::uint64_t>(options_.n);
    const auto shift = static_cast<std::uint64_t>(std::fmod(
        std::floor(options_.drift * request), static_cast<double>(options_.n)));
    const auto begin = out.uses.size();
    const auto before = request == 0 ? begin : out.first_use[request - 1];
    for (std::int64_t i = 0; i < options_.chunks; ++i) {
      auto chunk
          = static_cast<std::uint32_t>((ranks_.draw(random_) + shift) % n);
      if (before < begin && options_.repeat > 0
          && random_.uniform() < options_.repeat)
        chunk = out.uses[before + random_.below(begin - before)];
      chunk = unused(chunk, request, shift);
      used_in_[chunk] = request;
      out.uses.push_back(chunk);
    }
    out.first_use.push_back(out.uses.size());
  }

private:
  /// `chunk`, or if the request has it already, one drawn anew; where luck
  /// gives only such, the next that it hasn't.
  std::uint32_t unused(std::uint32_t chunk, std::uint32_t request,
                       std::uint64_t shift) {
    const auto n = static_cast<std::uint64_t>(options_.n);
    constexpr int tries = 64;
    for (int i = 0; i < tries && used_in_[chunk] == request; ++i)
      chunk = static_cast<std::uint32_t>((ranks_.draw(random_) + shift) % n);
    while (used_in_[chunk] == request)
      chunk = static_cast<std::uint32_t>((chunk + 1) % n);
    return chunk;
  }

  const zipf_options& options_;
  random_stream random_;
  rank_drawer ranks_;
  std::vector<std::uint32_t> used_in_; ///< [n], the last request
};

} // namespace

result<zipf_options> read_zipf_options(std::string_view text) {
  zipf_options out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos)
      return fail(errc::bad_input, "found `" + std::string(part)
                                       + "`, wanted KEY=VALUE,KEY=VALUE,...");
    auto set = set_option(out, part.substr(0, equals), part.substr(equals + 1));
    if (!set) return pass_on(set);
  }
  if (out.chunks > out.n) {
    return fail(errc::bad_input,
                "`chunks` is " + std::to_string(out.chunks)
                    + ", but there are only n=" + std::to_string(out.n)
                    + "; a request has different ones");
  }
  if (out.requests > most_uses / out.chunks) {
    return fail(errc::bad_input, "`requests` times `chunks` may be up to "
                                     + std::to_string(most_uses) + ", found "
                                     + std::to_string(out.requests) + " times "
                                     + std::to_string(out.chunks));
  }
  return out;
}

trace make_zipf_trace(const zipf_options& options, std::uint64_t seed) {
  trace out;
  random_stream sizes(seed, "zipf_tokens");
  const auto spread
      = static_cast<std::uint64_t>(options.max_tokens - options.min_tokens + 1);
  for (std::int64_t i = 0; i < options.n; ++i)
    out.tokens.push_back(options.min_tokens
                         + static_cast<std::int64_t>(sizes.below(spread)));
  out.uses.reserve(static_cast<std::size_t>(options.requests * options.chunks));
  request_maker maker(options, seed);
  for (std::int64_t r = 0; r < options.requests; ++r)
    maker.add(out, static_cast<std::uint32_t>(r));
  return out;
}

} // namespace kvloom::storage
