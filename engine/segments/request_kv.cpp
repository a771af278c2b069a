#include "engine/segments/request_kv.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kvloom::engine {

request_kv::request_kv(kv_tail tail) : tail_(std::move(tail)) {}

request_kv::request_kv(kv_tail tail, std::vector<placed_chunk> chunks,
                       std::int64_t n_layers)
    : tail_(std::move(tail)), chunks_(std::move(chunks)),
      patches_(static_cast<std::size_t>(n_layers)),
      hidden_(static_cast<std::size_t>(n_layers)) {}

std::int64_t request_kv::bytes() const {
  std::int64_t all = tail_.bytes();
  for (const auto& rows : patches_) all += rows.bytes();
  return all;
}

std::shared_ptr<const request_kv::hidden_keys>
request_kv::hide(const row_positions& positions) const {
  auto made = std::make_shared<hidden_keys>();
  auto at = positions->begin();
  for (const auto& placed : chunks_) {
    const auto n = placed.chunk->shape().n_tokens;
    std::vector<std::uint64_t> words(static_cast<std::size_t>((n + 63) / 64));
    std::int64_t left = n;
    at = std::lower_bound(at, positions->end(), placed.start);
    for (; at != positions->end() && *at < placed.end(); ++at, --left) {
      const auto key = static_cast<std::uint64_t>(*at - placed.start);
      words[key / 64] |= std::uint64_t{1} << (key % 64);
    }
    if (left == n) words.clear();
    made->words.push_back(std::move(words));
    made->left.push_back(left);
  }
  return made;
}

result<void> request_kv::patch(std::int64_t layer, std::int64_t n_kv_heads,
                               std::int64_t head_dim, dtype type,
                               const row_positions& positions) {
  const auto at = static_cast<std::size_t>(layer);
  auto rows = kv_rows::reserve(n_kv_heads, head_dim, type, positions);
  if (!rows) return pass_on(rows);
  patches_[at] = std::move(*rows);
  for (std::size_t other = 0; other < patches_.size(); ++other)
    if (other != at && hidden_[other]
        && patches_[other].positions() == positions) {
      hidden_[at] = hidden_[other];
      return {};
    }
  hidden_[at] = hide(positions);
  return {};
}

kv_rows& request_kv::patch_rows(std::int64_t layer) {
  return patches_[static_cast<std::size_t>(layer)];
}

const kv_rows* request_kv::patch_rows(std::int64_t layer) const {
  return patches_.empty() ? nullptr
                          : &patches_[static_cast<std::size_t>(layer)];
}

placed_segment segment_of(const placed_chunk& placed, std::int64_t layer) {
  const auto& shape = placed.chunk->shape();
  placed_segment one;
  one.shift = placed.shift();
  one.keys.k = placed.chunk->head(layer, 0, 0);
  one.keys.v = placed.chunk->head(layer, 1, 0);
  one.keys.type = shape.type;
  one.keys.head_stride = shape.n_tokens * shape.head_dim;
  one.keys.n_keys = shape.n_tokens;
  one.keys.first_position = placed.start;
  return one;
}

void request_kv::segments(std::int64_t layer, std::int64_t tail_first,
                          std::int64_t tail_last,
                          std::vector<placed_segment>& out) const {
  const auto at = static_cast<std::size_t>(layer);
  const auto* hidden = hidden_.empty() ? nullptr : hidden_[at].get();
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    if (chunks_[c].chunk->shape().n_tokens == 0) continue;
    if (hidden != nullptr && hidden->left[c] == 0) continue;
    auto one = segment_of(chunks_[c], layer);
    if (hidden != nullptr && !hidden->words[c].empty())
      one.keys.stale = hidden->words[c].data();
    out.push_back(one);
  }
  if (!patches_.empty() && patches_[at].size() > 0)
    out.push_back({patches_[at].view(), 0});
  if (tail_last > tail_first)
    out.push_back({tail_.view(layer, tail_first, tail_last), 0});
}

} // namespace kvloom::engine
