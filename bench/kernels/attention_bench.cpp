// Attention of one layer of SmolLM2-135M: prefill in GFLOP/s of the visible
// pairs (4 head_dim operations each) and a decode step in GB/s of the keys and
// values read, by path and threads. `read_floor` reads as many bytes and does
// nothing with them.
#include "kernels/api/attention.hpp"
#include "kernels/api/cpu_features.hpp"
#include "kernels/api/elementwise.hpp"

#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kvloom;
using kernels::cpu_path;

constexpr std::int64_t n_q_heads = 9;
constexpr std::int64_t n_kv_heads = 3;
constexpr std::int64_t head_dim = 64;

struct problem {
  std::vector<float> q, o, lse;
  std::vector<std::byte> k, v;
  std::vector<std::int64_t> positions;
  kernels::attention_params params;

  problem(std::int64_t n_rows, std::int64_t n_keys, dtype type)
      : q(static_cast<std::size_t>(n_rows * n_q_heads * head_dim)), o(q.size()),
        lse(static_cast<std::size_t>(n_rows * n_q_heads)),
        positions(static_cast<std::size_t>(n_rows)) {
    std::mt19937_64 bits(1);
    std::normal_distribution<float> normal;
    for (float& x : q) x = normal(bits);
    std::vector<float> plain(
        static_cast<std::size_t>(n_kv_heads * n_keys * head_dim));
    for (std::vector<std::byte>* to : {&k, &v}) {
      for (float& x : plain) x = normal(bits);
      const auto n = static_cast<std::int64_t>(plain.size());
      to->resize(static_cast<std::size_t>(row_bytes(type, n)));
      kernels::narrow(n, plain.data(), type, to->data());
    }
    std::iota(positions.begin(), positions.end(), n_keys - n_rows);
    params.n_rows = n_rows;
    params.n_q_heads = n_q_heads;
    params.n_kv_heads = n_kv_heads;
    params.head_dim = head_dim;
    params.q = q.data();
    params.q_row_stride = n_q_heads * head_dim;
    params.row_positions = positions.data();
    params.segment.k = k.data();
    params.segment.v = v.data();
    params.segment.type = type;
    params.segment.head_stride = n_keys * head_dim;
    params.segment.n_keys = n_keys;
    params.scale = 1 / std::sqrt(static_cast<float>(head_dim));
    params.o = o.data();
    params.lse = lse.data();
  }

  double kv_bytes() const { return static_cast<double>(k.size() + v.size()); }
};

/// A result that no sum of the values can be tells of a broken kernel.
bool plausible(const problem& p) {
  for (const float x : p.o)
    if (!(std::abs(x) < 8)) return false;
  return true;
}

void attend(benchmark::State& state, std::int64_t n_rows, std::int64_t n_keys,
            dtype type, cpu_path path, int threads) {
  problem p(n_rows, n_keys, type);
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  kernels::limit_path(path);
  for (auto _ : state) arena.execute([&] { kernels::attend(p.params); });
  kernels::limit_path(cpu_path::amx);
  if (!plausible(p)) state.SkipWithError("the result is out of range");
  const auto rows = static_cast<double>(n_rows);
  const double pairs
      = rows * static_cast<double>(n_keys - n_rows) + rows * (rows + 1) / 2;
  state.counters["FLOP"]
      = benchmark::Counter(pairs * n_q_heads * head_dim * 4,
                           benchmark::Counter::kIsIterationInvariantRate);
  state.counters["KV_bytes"] = benchmark::Counter(
      p.kv_bytes(), benchmark::Counter::kIsIterationInvariantRate);
}

void read_floor(benchmark::State& state, std::int64_t n_keys, int threads) {
  const problem p(1, n_keys, dtype::bf16);
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  const auto sum_words = [](const std::vector<std::byte>& from) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(from.data());
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, from.size() / 8, 8192),
        std::uint64_t{0},
        [words](const tbb::blocked_range<std::size_t>& range,
                std::uint64_t sum) {
          for (std::size_t i = range.begin(); i < range.end(); ++i)
            sum ^= words[i];
          return sum;
        },
        [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
  };
  for (auto _ : state)
    arena.execute([&] {
      benchmark::DoNotOptimize(sum_words(p.k));
      benchmark::DoNotOptimize(sum_words(p.v));
    });
  state.counters["KV_bytes"] = benchmark::Counter(
      p.kv_bytes(), benchmark::Counter::kIsIterationInvariantRate);
}

void declare(int threads) {
  const std::string with = "/threads:" + std::to_string(threads);
  for (const std::int64_t n_keys : {128, 3072, 100000})
    benchmark::RegisterBenchmark(
        ("read_floor/keys:" + std::to_string(n_keys) + with).c_str(),
        [=](benchmark::State& state) { read_floor(state, n_keys, threads); })
        ->UseRealTime();
  for (const cpu_path path :
       {cpu_path::portable, cpu_path::avx2, cpu_path::avx512, cpu_path::amx}) {
    if (path > kernels::detected_path()) continue;
    for (const dtype type : {dtype::f32, dtype::bf16, dtype::f16}) {
      const auto add = [&](std::int64_t n_rows, std::int64_t n_keys) {
        benchmark::RegisterBenchmark(
            ("attend/rows:" + std::to_string(n_rows)
             + "/keys:" + std::to_string(n_keys) + "/" + to_string(type) + "/"
             + kernels::to_string(path) + with)
                .c_str(),
            [=](benchmark::State& state) {
              attend(state, n_rows, n_keys, type, path, threads);
            })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      };
      add(3072, 3072);
      add(32, 3072);
      add(1, 128);
      add(1, 3072);
      add(1, 100000);
      add(6, 3072);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  for (const int threads : {1, 2}) declare(threads);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
