// Merging neighbours, best pair first: the loop of every BPE model.
#pragma once

#include "core/record/question.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kvloom::engine {

/// A stretch of the word, bytes [begin, end), in a doubly linked list. After
/// merge_symbols(), those that were swallowed have begin == end.
struct symbol {
  std::size_t begin = 0;
  std::size_t end = 0;
  token_id id = 0;
  std::size_t previous = none;
  std::size_t next = none;

  static constexpr auto none = static_cast<std::size_t>(-1);
};

/// What two neighbours become, and when: lower orders go first, ties from
/// left to right.
struct merge {
  double order = 0;
  token_id id = 0;
};

/// A merge that waits for its turn.
struct candidate {
  double order;
  std::size_t left;
  std::size_t end; ///< of the right side; tells a stale entry
  token_id id;
};

/// The waiting merges, a heap. Reused from word to word to spare allocations.
class merge_queue {
public:
  void clear() { heap_.clear(); }
  void push(const candidate& one);
  std::optional<candidate> pop();

private:
  std::vector<candidate> heap_;
};

/// Links symbols that lie in order in `word`.
void link_symbols(std::vector<symbol>& word);

/// Merges the linked symbols of `word` until no pair is left that
/// `find(left, right)` gives a merge for.
template <class Find>
void merge_symbols(std::vector<symbol>& word, merge_queue& queue, Find&& find) {
  queue.clear();
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == symbol::none || right == symbol::none) return;
    const std::optional<merge> found = find(word[left], word[right]);
    if (found) queue.push({found->order, left, word[right].end, found->id});
  };
  for (std::size_t i = 1; i < word.size(); ++i) consider(i - 1, i);
  while (const auto best = queue.pop()) {
    symbol& left = word[best->left];
    if (left.begin == left.end || left.next == symbol::none) continue;
    symbol& right = word[left.next];
    // Symbols only grow, so an entry is stale when its end is not here.
    if (right.end != best->end) continue;
    left.id = best->id;
    left.end = right.end;
    left.next = right.next;
    right.begin = right.end;
    if (left.next != symbol::none) word[left.next].previous = best->left;
    consider(left.previous, best->left);
    consider(best->left, left.next);
  }
}

} // namespace kvloom::engine
