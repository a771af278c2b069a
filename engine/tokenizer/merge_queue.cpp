#include "engine/tokenizer/merge_queue.hpp"

#include <algorithm>

namespace kvloom::engine {

namespace {

/// Heap order: the first to go is the "largest".
bool goes_later(const candidate& a, const candidate& b) {
  if (a.order != b.order) return a.order > b.order;
  return a.left > b.left;
}

} // namespace

void merge_queue::push(const candidate& one) {
  heap_.push_back(one);
  std::push_heap(heap_.begin(), heap_.end(), goes_later);
}

std::optional<candidate> merge_queue::pop() {
  if (heap_.empty()) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), goes_later);
  const candidate best = heap_.back();
  heap_.pop_back();
  return best;
}

void link_symbols(std::vector<symbol>& word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    word[i].previous = i == 0 ? symbol::none : i - 1;
    word[i].next = i + 1 == word.size() ? symbol::none : i + 1;
  }
}

} // namespace kvloom::engine
