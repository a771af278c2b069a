#include "storage/simulate/simulate.hpp"

#include "storage/simulate/simulated_tier.hpp"

#include <algorithm>
#include <optional>

namespace kvloom::storage {

namespace {

class simulation {
public:
  simulation(const workload& work, eviction_policy& policy,
             const simulation_options& options)
      : work_(work), policy_(policy), look_ahead_(options.look_ahead),
        tier_(work.chunks, options.capacity_bytes, policy) {}

  simulation_result run() {
    out_.requests = work_.n_requests();
    for (std::size_t r = 0; r < work_.n_requests(); ++r) {
      see_queue(r);
      serve(r);
    }
    out_.evictions = tier_.evictions();
    out_.evicted_bytes = tier_.evicted_bytes();
    out_.written_bytes = tier_.written_bytes();
    return out_;
  }

private:
  /// Requests up to `now` + look_ahead are queued: tells the policy of those
  /// that came.
  void see_queue(std::size_t now) {
    const auto end
        = std::min<std::uint64_t>(now + look_ahead_ + 1, work_.n_requests());
    for (seen_ = std::max<std::uint64_t>(seen_, now + 1); seen_ < end;
         ++seen_) {
      for (auto use = work_.begin(seen_); use < work_.end(seen_); ++use) {
        // Only a chunk's nearest use counts, and serve() tells of those that
        // follow the present request.
        const auto before = work_.previous[use];
        if (before != never && before < now)
          policy_.next_use(work_.requests.uses[use], seen_);
      }
    }
  }

  void serve(std::size_t request) {
    const auto begin = work_.begin(request);
    const auto end = work_.end(request);
    misses_.clear();
    for (auto use = begin; use < end; ++use) {
      const auto chunk = work_.requests.uses[use];
      count_use(chunk);
      if (tier_.use(chunk)) {
        count_hit(chunk);
        tell_next_use(use, request);
      } else {
        misses_.push_back(use);
      }
    }
    if (misses_.empty() && begin < end) ++out_.requests_all_hit;
    for (const auto use : misses_) {
      switch (tier_.store(work_.requests.uses[use])) {
      case simulated_tier::outcome::stored:
        tell_next_use(use, request);
        break;
      case simulated_tier::outcome::too_large:
        ++out_.too_large;
        break;
      case simulated_tier::outcome::no_room:
        ++out_.no_room;
        break;
      }
    }
    tier_.release_all();
  }

  void tell_next_use(std::uint64_t use, std::size_t request) {
    if (look_ahead_ == 0) return;
    std::optional<queue_turn> turn;
    if (work_.next[use] != never && work_.next[use] - request <= look_ahead_)
      turn = work_.next[use];
    policy_.next_use(work_.requests.uses[use], turn);
  }

  void count_use(std::uint32_t chunk) {
    ++out_.uses;
    out_.tokens += work_.requests.tokens[chunk];
    out_.bytes += work_.chunks[chunk].bytes;
    out_.total_s += work_.chunks[chunk].recompute_s;
  }

  void count_hit(std::uint32_t chunk) {
    ++out_.hits;
    out_.hit_tokens += work_.requests.tokens[chunk];
    out_.hit_bytes += work_.chunks[chunk].bytes;
    out_.saved_s += work_.chunks[chunk].recompute_s;
  }

  const workload& work_;
  eviction_policy& policy_;
  std::uint64_t look_ahead_;
  simulated_tier tier_;
  simulation_result out_;
  std::uint64_t seen_ = 0;            ///< requests before it are known
  std::vector<std::uint64_t> misses_; ///< uses of the present request
};

} // namespace

simulation_result simulate(const workload& work, eviction_policy& policy,
                           const simulation_options& options) {
  return simulation(work, policy, options).run();
}

} // namespace kvloom::storage
