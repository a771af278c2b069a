// Rates of the products with weight matrices on all threads of the machine.
//
//   linear_bench [--benchmark_filter=...]
//
// few_token: all matrices that one token of SmolLM2-135M passes through (Q4_1,
// tied head Q8_0), milliseconds a token and GB/s of weights. few: one matrix
// much larger than the caches. many: prefill shapes, GFLOP/s.
#include "core/base/random.hpp"
#include "core/tensor/float_bits.hpp"
#include "kernels/api/cpu_features.hpp"
#include "kernels/api/linear.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace kvloom;
using kernels::cpu_path;
using kernels::weight_matrix;

/// Random integers under block scales of 0.01; plain values of that size.
weight_matrix random_matrix(dtype type, std::int64_t rows, std::int64_t columns,
                            weight_matrix::form as) {
  random_stream random(1, "weights");
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(rows * row_bytes(type, columns)));
  const std::int64_t size = block_bytes(type);
  for (auto* at = bytes.data(); at < bytes.data() + bytes.size(); at += size) {
    if (type == dtype::bf16) {
      const auto value
          = f32_to_bf16(static_cast<float>(0.02 * (random.uniform() - 0.5)));
      std::memcpy(at, &value, sizeof value);
      continue;
    }
    for (std::int64_t i = 0; i < size; i += 8) {
      const std::uint64_t eight = random.next();
      std::memcpy(at + i, &eight,
                  static_cast<std::size_t>(size - i < 8 ? size - i : 8));
    }
    const std::uint16_t scale = f32_to_f16(0.01F);
    std::memcpy(at + (type == dtype::q6_k ? 208 : 0), &scale, sizeof scale);
    if (type == dtype::q4_1 || type == dtype::q4_k)
      std::memcpy(at + 2, &scale, sizeof scale);
  }
  const std::array parts{
      kernels::matrix_source{type, bytes.data(), rows, columns}};
  auto made = weight_matrix::make(parts, as);
  if (!made) {
    std::fprintf(stderr, "linear_bench: %s\n", to_string(made.error()).c_str());
    std::exit(3);
  }
  return std::move(*made);
}

std::vector<float> random_rows(std::int64_t n) {
  random_stream random(2, "activations");
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

benchmark::Counter rate_of(double amount) {
  return benchmark::Counter(amount,
                            benchmark::Counter::kIsIterationInvariantRate);
}

/// The matrices of SmolLM2-135M.
std::vector<weight_matrix> small_model() {
  std::vector<weight_matrix> all;
  constexpr auto as = weight_matrix::form::as_stored;
  for (int layer = 0; layer < 30; ++layer) {
    all.push_back(random_matrix(dtype::q4_1, 960, 576, as));
    all.push_back(random_matrix(dtype::q4_1, 576, 576, as));
    all.push_back(random_matrix(dtype::q4_1, 3072, 576, as));
    all.push_back(random_matrix(dtype::q4_1, 576, 1536, as));
  }
  all.push_back(random_matrix(dtype::q8_0, 49152, 576, as));
  return all;
}

void few_token(benchmark::State& state, cpu_path path) {
  static const std::vector<weight_matrix> model = small_model();
  if (path > kernels::detected_path()) {
    state.SkipWithError("this processor lacks the path");
    return;
  }
  kernels::limit_path(path);
  const std::int64_t n_rows = state.range(0);
  const std::vector<float> x = random_rows(n_rows * 1536);
  std::vector<float> y(static_cast<std::size_t>(n_rows * 49152));
  for (auto _ : state)
    for (const weight_matrix& w : model)
      multiply_few(w, n_rows, x.data(), y.data());
  kernels::limit_path(cpu_path::amx);
  double bytes = 0;
  for (const weight_matrix& w : model) bytes += static_cast<double>(w.bytes());
  state.counters["weights"] = rate_of(bytes);
}

void few(benchmark::State& state, dtype type, weight_matrix::form as) {
  const weight_matrix w = random_matrix(type, 16384, 4096, as);
  const std::int64_t n_rows = state.range(0);
  const std::vector<float> x = random_rows(n_rows * 4096);
  std::vector<float> y(static_cast<std::size_t>(n_rows * 16384));
  for (auto _ : state) multiply_few(w, n_rows, x.data(), y.data());
  state.counters["weights"] = rate_of(static_cast<double>(w.bytes()));
}

void many(benchmark::State& state, weight_matrix::form as) {
  const std::int64_t n_rows = state.range(0);
  const std::int64_t columns = state.range(1);
  const std::int64_t outputs = state.range(2);
  const weight_matrix w = random_matrix(dtype::bf16, outputs, columns, as);
  const std::vector<float> x = random_rows(n_rows * columns);
  std::vector<float> y(static_cast<std::size_t>(n_rows * outputs));
  for (auto _ : state) multiply_many(w, n_rows, x.data(), y.data());
  state.counters["flops"]
      = rate_of(2.0 * static_cast<double>(n_rows) * static_cast<double>(columns)
                * static_cast<double>(outputs));
}

void prefill_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "columns", "outputs"})->Unit(benchmark::kMillisecond);
  b->UseRealTime();
  for (const std::int64_t rows : {3072, 512, 160, 16}) {
    b->Args({rows, 576, 3072})->Args({rows, 1536, 576});
    b->Args({rows, 576, 960})->Args({rows, 576, 576});
  }
}

void rows_of(benchmark::internal::Benchmark* b) {
  b->ArgName("rows")->Unit(benchmark::kMillisecond)->UseRealTime();
  b->Arg(1)->Arg(4)->Arg(8);
}

BENCHMARK_CAPTURE(few_token, avx512, cpu_path::avx512)->Apply(rows_of);
BENCHMARK_CAPTURE(few_token, avx2, cpu_path::avx2)->Apply(rows_of);
BENCHMARK_CAPTURE(few_token, portable, cpu_path::portable)->Apply(rows_of);

constexpr auto stored = weight_matrix::form::as_stored;
BENCHMARK_CAPTURE(few, q8_0, dtype::q8_0, stored)->Apply(rows_of);
BENCHMARK_CAPTURE(few, q4_0, dtype::q4_0, stored)->Apply(rows_of);
BENCHMARK_CAPTURE(few, q4_1, dtype::q4_1, stored)->Apply(rows_of);
BENCHMARK_CAPTURE(few, q4_k, dtype::q4_k, stored)->Apply(rows_of);
BENCHMARK_CAPTURE(few, q6_k, dtype::q6_k, stored)->Apply(rows_of);
BENCHMARK_CAPTURE(few, bf16, dtype::bf16, weight_matrix::form::bf16)
    ->Apply(rows_of);
BENCHMARK_CAPTURE(few, f32, dtype::bf16, weight_matrix::form::f32)
    ->Apply(rows_of);

BENCHMARK_CAPTURE(many, bf16, weight_matrix::form::bf16)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(many, f32, weight_matrix::form::f32)->Apply(prefill_shapes);

} // namespace

BENCHMARK_MAIN();
