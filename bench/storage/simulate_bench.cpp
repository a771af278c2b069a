// Simulated requests a second, for one policy with its offline bound, and the
// parts of that: the policy alone, the bound alone. Mooncake's trace is read
// from $KVLOOM_TEST_DATA/mooncake if that is there.
#include "datasets/read/file_bytes.hpp"
#include "storage/simulate/offline_bound.hpp"
#include "storage/simulate/read_trace.hpp"
#include "storage/simulate/simulate.hpp"
#include "storage/simulate/zipf_trace.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace {

using namespace kvloom;
using namespace kvloom::storage;

constexpr std::int64_t gib = std::int64_t{1} << 30;

/// A million requests of five chunks out of 20,000 with 200 to 900 tokens:
/// 1.3 TiB if all were stored.
const workload& zipf_work() {
  static const auto work = [] {
    zipf_options options;
    options.n = 20'000;
    options.requests = 1'000'000;
    options.min_tokens = 200;
    options.max_tokens = 900;
    return std::move(
        *make_workload(make_zipf_trace(options, 1), {131072, 5000, 1e-7}));
  }();
  return work;
}

const std::optional<workload>& mooncake_work() {
  static const auto work = []() -> std::optional<workload> {
    const char* folder = std::getenv("KVLOOM_TEST_DATA");
    if (folder == nullptr) return std::nullopt;
    const std::string path
        = std::string(folder) + "/mooncake/conversation_trace.jsonl.gz";
    const auto bytes = datasets::read_file_bytes(path, 1u << 30);
    if (!bytes) return std::nullopt;
    auto requests = read_trace(bytes->text, path);
    if (!requests) return std::nullopt;
    auto made = make_workload(std::move(*requests), {131072, 5000, 0});
    if (!made) return std::nullopt;
    return std::move(*made);
  }();
  return work;
}

void count(benchmark::State& state, const workload& work) {
  const auto rounds = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(rounds
                          * static_cast<std::int64_t>(work.n_requests()));
  state.counters["uses_per_second"]
      = benchmark::Counter(static_cast<double>(rounds)
                               * static_cast<double>(work.requests.uses.size()),
                           benchmark::Counter::kIsRate);
}

void run(benchmark::State& state, const workload& work, std::int64_t capacity,
         const char* name, bool with_bound) {
  double share = 0;
  for (auto _ : state) {
    const auto policy = make_eviction_policy(name);
    const auto done = simulate(work, **policy, {capacity, 64});
    const auto bound = with_bound ? bound_saved_seconds(work, capacity).saved_s
                                  : done.total_s;
    share = done.saved_s / bound;
    if (share > 1 + 1e-9) state.SkipWithError("a policy beats the bound");
  }
  state.counters[with_bound ? "share_of_bound" : "share_of_total"] = share;
  count(state, work);
}

void zipf_policy(benchmark::State& state, const char* name) {
  run(state, zipf_work(), 100 * gib, name, false);
}

void zipf_policy_and_bound(benchmark::State& state, const char* name) {
  run(state, zipf_work(), 100 * gib, name, true);
}

void mooncake_policy_and_bound(benchmark::State& state, const char* name) {
  if (!mooncake_work()) {
    state.SkipWithError("KVLOOM_TEST_DATA has no mooncake trace");
    return;
  }
  run(state, *mooncake_work(), 1024 * gib, name, true);
}

BENCHMARK_CAPTURE(zipf_policy, lru, "lru")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(zipf_policy, pgdsf, "pgdsf")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(zipf_policy, look_ahead_pgdsf, "look_ahead+pgdsf")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(zipf_policy_and_bound, pgdsf, "pgdsf")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(zipf_policy_and_bound, look_ahead_pgdsf, "look_ahead+pgdsf")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mooncake_policy_and_bound, look_ahead_pgdsf,
                  "look_ahead+pgdsf")
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
