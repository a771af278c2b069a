// The problem. Between requests t and t + 1 lies gap t. A use of a chunk in
// request r saves its cost v if the chunk lay in the store during all gaps
// from its use before, in request p, to r: gaps p .. r-1, for chunks come from
// their uses only. So each reuse is an interval of gaps with a size and a
// value, and whatever a store does, the intervals of its hits never hold more
// than the capacity C in any gap. The most valuable set of intervals with that
// property is the offline optimum; finding it is NP-hard where sizes differ.
//
// One size and one value. C holds k chunks; the most intervals of which no gap
// has more than k are found by walking over the gaps and dropping, where there
// are more than k, the one that ends last (the greedy colouring of interval
// graphs; Belady's rule, with the right to decline). Exact by exchange: in any
// set that keeps the one dropped and drops another, the other may take its
// place, for it ends no later and all before this gap was kept.
//
// Otherwise, a relaxation. For any prices w_t >= 0 of a byte in gap t and any
// feasible set S of intervals,
//
//     sum_S v  =  sum_S (v - size * W) + sum_S size * W
//              <= sum_all max(0, v - size * W) + C * sum_t w_t,
//
// where W is the sum of w_t over the interval's gaps: the first sum only grows
// by taking all positive terms, and the second is the price of what S holds,
// at most C bytes in each gap. So each choice of prices gives a true upper
// bound. One price for all gaps, at its best, is the fractional knapsack of
// byte-gaps filled by value per byte-gap (PFOO-U of Berger, Beckmann and
// Harchol-Balter, 2018). Prices that follow the load make it tighter: they are
// raised where the intervals taken hold more than C and lowered where less,
// and the least bound seen counts.
#include "storage/simulate/offline_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>
#include <utility>

namespace kvloom::storage {

namespace {

struct reuse {
  std::uint32_t begin = 0; ///< request of the use before: the first gap
  std::uint32_t end = 0;   ///< request of this use: behind the last gap
  std::int64_t bytes = 0;
  double value_s = 0;
};

std::vector<reuse> find_reuses(const workload& work,
                               std::int64_t capacity_bytes) {
  std::vector<reuse> out;
  for (std::size_t r = 0; r < work.n_requests(); ++r) {
    for (auto use = work.begin(r); use < work.end(r); ++use) {
      const auto& chunk = work.chunks[work.requests.uses[use]];
      if (work.next[use] == never || chunk.bytes > capacity_bytes) continue;
      out.push_back({static_cast<std::uint32_t>(r), work.next[use], chunk.bytes,
                     chunk.recompute_s});
    }
  }
  return out; // by begin
}

double total_value(const std::vector<reuse>& reuses) {
  double sum = 0;
  for (const auto& one : reuses) sum += one.value_s;
  return sum;
}

bool all_fit(const std::vector<reuse>& reuses, std::size_t n_gaps,
             std::int64_t capacity_bytes) {
  std::vector<std::int64_t> change(n_gaps + 1, 0);
  for (const auto& one : reuses) {
    change[one.begin] += one.bytes;
    change[one.end] -= one.bytes;
  }
  std::int64_t held = 0;
  for (const auto step : change)
    if ((held += step) > capacity_bytes) return false;
  return true;
}

bool all_alike(const std::vector<reuse>& reuses) {
  return std::all_of(reuses.begin(), reuses.end(), [&](const reuse& one) {
    return one.bytes == reuses.front().bytes
           && one.value_s == reuses.front().value_s;
  });
}

/// The most intervals of which no gap has more than `places`.
std::uint64_t most_intervals(const std::vector<reuse>& reuses,
                             std::size_t n_gaps, std::uint64_t places) {
  std::vector<std::uint32_t> ending(n_gaps + 1, 0); // of those held
  std::priority_queue<std::uint32_t> ends; // of those held, and of some done
  std::uint64_t held = 0, done = 0;
  std::size_t at = 0;
  for (std::uint32_t gap = 0; gap <= n_gaps; ++gap) {
    held -= ending[gap];
    done += ending[gap];
    for (; at < reuses.size() && reuses[at].begin == gap; ++at, ++held) {
      ++ending[reuses[at].end];
      ends.push(reuses[at].end);
    }
    for (; held > places; --held) {
      --ending[ends.top()];
      ends.pop();
    }
  }
  return done;
}

/// Prices that are constant within blocks of gaps.
class gap_prices {
public:
  gap_prices(std::size_t n_gaps, double capacity)
      : n_gaps_(n_gaps), capacity_(capacity) {
    constexpr std::size_t most_blocks = 512;
    while ((n_gaps >> shift_) >= most_blocks) ++shift_;
    const auto blocks = (n_gaps >> shift_) + 2;
    price_.assign(blocks, 0.0);
    before_.assign(blocks, 0.0);
    load_.assign(blocks, 0.0);
    whole_.assign(blocks + 1, 0.0);
  }

  void set_all(double price) { std::fill(price_.begin(), price_.end(), price); }

  /// The bound that the prices give; notes what the intervals taken hold.
  double bound(const std::vector<reuse>& reuses) {
    double sum = 0;
    for (std::size_t b = 0; b < price_.size(); ++b) {
      before_[b] = sum;
      sum += price_[b] * static_cast<double>(gaps_in(b));
    }
    sum *= capacity_;
    std::fill(load_.begin(), load_.end(), 0.0);
    std::fill(whole_.begin(), whole_.end(), 0.0);
    for (const auto& one : reuses) {
      const auto gain = one.value_s
                        - static_cast<double>(one.bytes)
                              * (up_to(one.end) - up_to(one.begin));
      if (gain <= 0) continue;
      sum += gain;
      add_load(one);
    }
    return sum;
  }

  /// Raises and lowers prices by the load that bound() noted.
  void follow_load(double step) {
    double whole = 0;
    for (std::size_t b = 0; b < price_.size(); ++b) {
      whole += whole_[b];
      const auto gaps = static_cast<double>(gaps_in(b));
      if (gaps == 0) continue;
      const auto ratio = (load_[b] / gaps + whole) / capacity_;
      price_[b] *= std::exp(step * std::clamp(ratio - 1, -1.0, 1.0));
    }
  }

private:
  std::size_t gaps_in(std::size_t block) const {
    const auto begin = block << shift_;
    const auto end = (block + 1) << shift_;
    return std::min(end, n_gaps_) - std::min(begin, n_gaps_);
  }

  /// Sum of the prices of the gaps before `gap`.
  double up_to(std::uint32_t gap) const {
    const auto block = gap >> shift_;
    const auto rest = gap - (block << shift_);
    return before_[block] + price_[block] * static_cast<double>(rest);
  }

  void add_load(const reuse& one) {
    const auto bytes = static_cast<double>(one.bytes);
    const auto first = one.begin >> shift_;
    const auto last = one.end >> shift_;
    const auto to_begin = static_cast<double>(one.begin - (first << shift_));
    const auto to_end = static_cast<double>(one.end - (last << shift_));
    // Whole blocks first .. last-1, less what lies before the begin, and what
    // lies before the end.
    whole_[first] += bytes;
    whole_[last] -= bytes;
    load_[first] -= bytes * to_begin;
    load_[last] += bytes * to_end;
  }

  std::size_t n_gaps_;
  double capacity_;
  unsigned shift_ = 0;         ///< a block has 2^shift_ gaps
  std::vector<double> price_;  ///< [blocks], seconds a byte and gap
  std::vector<double> before_; ///< [blocks], prices of all gaps before it
  std::vector<double> load_;   ///< [blocks], byte-gaps in parts of blocks
  std::vector<double> whole_; ///< [blocks + 1], change of bytes held throughout
};

/// The best price where all gaps have the same: that of the last interval that
/// a knapsack of capacity * n_gaps byte-gaps takes, filled by value per
/// byte-gap; 0 if it takes all.
double knapsack_price(const std::vector<reuse>& reuses, std::size_t n_gaps,
                      double capacity) {
  std::vector<std::pair<double, double>> items; // value per byte-gap, byte-gaps
  items.reserve(reuses.size());
  for (const auto& one : reuses) {
    const auto room = static_cast<double>(one.bytes)
                      * static_cast<double>(one.end - one.begin);
    items.emplace_back(one.value_s / room, room);
  }
  std::sort(items.begin(), items.end(), std::greater<>());
  auto left = capacity * static_cast<double>(n_gaps);
  for (const auto& [price, room] : items)
    if ((left -= room) < 0) return price;
  return 0;
}

double relaxed_bound(const std::vector<reuse>& reuses, std::size_t n_gaps,
                     double capacity) {
  gap_prices prices(n_gaps, capacity);
  prices.set_all(knapsack_price(reuses, n_gaps, capacity));
  auto least = prices.bound(reuses);
  // The first rounds bring most of it; a large trace gets fewer of them.
  constexpr std::size_t steps = 50'000'000;
  const auto rounds = std::clamp<std::size_t>(steps / reuses.size(), 8, 100);
  for (std::size_t i = 0; i < rounds; ++i) {
    prices.follow_load(1.0 / (1.0 + 0.25 * static_cast<double>(i)));
    least = std::min(least, prices.bound(reuses));
  }
  return least;
}

} // namespace

const char* to_string(bound_kind kind) {
  switch (kind) {
  case bound_kind::every_reuse:
    return "every_reuse";
  case bound_kind::belady:
    return "belady";
  case bound_kind::relaxation:
    return "relaxation";
  }
  return "";
}

offline_bound bound_saved_seconds(const workload& work,
                                  std::int64_t capacity_bytes) {
  const auto reuses = find_reuses(work, capacity_bytes);
  const auto n_gaps = work.n_requests(); // the last is behind all requests
  const auto all = total_value(reuses);
  if (all_fit(reuses, n_gaps, capacity_bytes))
    return {all, bound_kind::every_reuse};
  if (all_alike(reuses)) {
    const auto places
        = static_cast<std::uint64_t>(capacity_bytes / reuses.front().bytes);
    const auto hits = most_intervals(reuses, n_gaps, places);
    return {static_cast<double>(hits) * reuses.front().value_s,
            bound_kind::belady};
  }
  return {std::min(all, relaxed_bound(reuses, n_gaps,
                                      static_cast<double>(capacity_bytes))),
          bound_kind::relaxation};
}

} // namespace kvloom::storage
