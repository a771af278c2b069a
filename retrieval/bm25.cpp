#include "retrieval/bm25.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kvloom::retrieval {

struct bm25_index::state {
  struct posting {
    std::uint32_t place = 0; ///< in `index`
    double weight = 0;       ///< idf times saturated frequency
  };
  std::unordered_map<std::string, std::vector<posting>> postings;
  std::vector<std::uint32_t> index; ///< passage::index, ascending
};

bm25_index::bm25_index(std::span<const passage> passages,
                       const bm25_options& options)
    : state_(std::make_unique<state>()) {
  // In the order of indices, so that a lower place is the lower index.
  std::vector<const passage*> order;
  order.reserve(passages.size());
  for (const auto& one : passages) order.push_back(&one);
  std::stable_sort(
      order.begin(), order.end(),
      [](const auto* a, const auto* b) { return a->index < b->index; });
  order.erase(std::unique(order.begin(), order.end(),
                          [](const auto* a, const auto* b) {
                            return a->index == b->index;
                          }),
              order.end());
  std::vector<double> length;
  double all_words = 0;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const auto& one = *order[place];
    auto words = unicode_words(one.title);
    auto more = unicode_words(one.text);
    words.insert(words.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
    length.push_back(static_cast<double>(words.size()));
    all_words += length.back();
    for (auto& word : words) {
      auto& list = state_->postings[std::move(word)];
      if (list.empty() || list.back().place != place)
        list.push_back({place, 0});
      list.back().weight += 1; // the frequency, for now
    }
    state_->index.push_back(one.index);
  }
  const auto n = static_cast<double>(order.size());
  const double mean = n > 0 && all_words > 0 ? all_words / n : 1;
  for (auto& [word, list] : state_->postings) {
    const auto has = static_cast<double>(list.size());
    const double idf = std::log(1 + (n - has + 0.5) / (has + 0.5));
    for (auto& one : list) {
      const double tf = one.weight;
      const double norm = 1 - options.b + options.b * length[one.place] / mean;
      one.weight = idf * tf * (options.k1 + 1) / (tf + options.k1 * norm);
    }
  }
}

bm25_index::~bm25_index() = default;
bm25_index::bm25_index(bm25_index&&) noexcept = default;
bm25_index& bm25_index::operator=(bm25_index&&) noexcept = default;

std::vector<scored_passage>
bm25_index::search(std::string_view query, std::size_t k,
                   std::span<const std::uint32_t> allowed) const {
  const auto& own = *state_;
  const auto n = own.index.size();
  std::vector<double> score(n, 0.0);
  for (const auto& word : unicode_words(query)) {
    const auto found = own.postings.find(word);
    if (found == own.postings.end()) continue;
    for (const auto& one : found->second) score[one.place] += one.weight;
  }
  std::vector<std::uint32_t> places;
  places.reserve(n);
  const std::unordered_set<std::uint32_t> permitted(allowed.begin(),
                                                    allowed.end());
  for (std::uint32_t place = 0; place < n; ++place)
    if (allowed.empty() || permitted.contains(own.index[place]))
      places.push_back(place);
  const auto best = std::min(k, places.size());
  std::partial_sort(places.begin(),
                    places.begin() + static_cast<std::ptrdiff_t>(best),
                    places.end(), [&](std::uint32_t a, std::uint32_t b) {
                      return score[a] != score[b] ? score[a] > score[b] : a < b;
                    });
  std::vector<scored_passage> out;
  out.reserve(best);
  for (std::size_t i = 0; i < best; ++i)
    out.push_back({own.index[places[i]], score[places[i]]});
  return out;
}

} // namespace kvloom::retrieval
