// Prefill and decode of a model in a plain loop: the numbers of measures P7
// (what actors add) and P9 (against llama.cpp, bench/peers/llama_cpp.py).
//
//   engine_bench --model FILE [--threads 2] [--prefill 3072] [--json]
//
// Token ids are random: time does not depend on what they say. Every figure is
// the median of its repetitions after a warm-up.
#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "engine/model/model_runner.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace kvloom;
using engine::model_runner;

constexpr int decode_warmup = 3, decode_steps = 37, prefill_repeats = 3;

struct bench_options {
  std::string model;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::int64_t prefill = 3072;
  bool f32 = false, same_weights = false, json = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<token_id> random_ids(std::int64_t n, std::int64_t vocab_size) {
  random_stream draw(1, "engine_bench");
  std::vector<token_id> ids(static_cast<std::size_t>(n));
  for (auto& id : ids) {
    id = static_cast<token_id>(
        draw.below(static_cast<std::uint64_t>(vocab_size)));
  }
  return ids;
}

/// Seconds of a prefill of all `ids` from nothing.
result<double> time_prefill(model_runner& model,
                            std::span<const token_id> ids) {
  auto into = model.start(static_cast<std::int64_t>(ids.size()));
  if (!into) return pass_on(into);
  const auto begin = now_ns();
  auto logits = model.extend(*into, ids);
  if (!logits) return pass_on(logits);
  return 1e-9 * static_cast<double>(now_ns() - begin);
}

/// Median milliseconds of a decode step at a context of `n` tokens.
result<double> time_decode(model_runner& model, std::span<const token_id> ids,
                           std::int64_t n) {
  const auto context = static_cast<std::size_t>(n);
  auto into = model.start(n + decode_warmup + decode_steps);
  if (!into) return pass_on(into);
  auto logits = model.extend(*into, ids.first(context));
  if (!logits) return pass_on(logits);
  engine::sequence* row = &*into;
  std::vector<double> took;
  for (std::size_t i = 0; i < decode_warmup + decode_steps; ++i) {
    const auto begin = now_ns();
    auto step = model.step({&row, 1}, ids.subspan(context + i, 1));
    if (!step) return pass_on(step);
    if (i >= decode_warmup) {
      took.push_back(1e-6 * static_cast<double>(now_ns() - begin));
    }
  }
  return median(std::move(took));
}

result<nlohmann::json> measure(const bench_options& given) {
  engine::runner_options options;
  options.threads = given.threads;
  if (given.f32) options.compute = engine::precision::f32;
  options.decode = given.same_weights ? engine::decode_weights::same
                                      : engine::decode_weights::quantised;
  auto model = model_runner::load(given.model, options);
  if (!model) return pass_on(model);
  const auto ids = random_ids(given.prefill + decode_warmup + decode_steps,
                              (*model)->config().vocab_size);
  const std::span<const token_id> all(ids);
  const auto prompt = all.first(static_cast<std::size_t>(given.prefill));
  auto warm = time_prefill(**model, all.first(64));
  if (!warm) return pass_on(warm);
  std::vector<double> seconds;
  for (int i = 0; i < prefill_repeats; ++i) {
    auto took = time_prefill(**model, prompt);
    if (!took) return pass_on(took);
    seconds.push_back(*took);
  }
  nlohmann::json out;
  out["prefill_tokens"] = given.prefill;
  out["prefill_tokens_per_s"]
      = static_cast<double>(given.prefill) / median(std::move(seconds));
  for (const auto context : {std::int64_t{128}, given.prefill}) {
    auto took = time_decode(**model, all, context);
    if (!took) return pass_on(took);
    out["decode_ms"][std::to_string(context)] = *took;
  }
  out["threads"] = (*model)->options().threads;
  out["precision"] = engine::to_string((*model)->options().compute);
  out["decode_weights"] = engine::to_string((*model)->options().decode);
  return out;
}

} // namespace

int main(int argc, char** argv) {
  bench_options given;
  CLI::App app{"Times prefill and decode of a model in a plain loop"};
  app.add_option("--model", given.model, "GGUF file or model folder")
      ->required();
  app.add_option("--threads", given.threads, "Threads of the engine")
      ->check(CLI::PositiveNumber);
  app.add_option("--prefill", given.prefill, "Tokens of the prompt")
      ->check(CLI::Range(129, 1 << 20))
      ->capture_default_str();
  app.add_flag("--f32", given.f32, "Compute in f32 instead of bf16");
  app.add_flag("--same-weights", given.same_weights,
               "Decode with the weights of the prefill, not the file's "
               "quantised ones");
  app.add_flag("--json", given.json, "Print JSON instead of text");
  CLI11_PARSE(app, argc, argv);
  auto figures = measure(given);
  if (!figures) {
    std::fprintf(stderr, "error: %s\n", to_string(figures.error()).c_str());
    return 2;
  }
  if (given.json) {
    std::printf("%s\n", figures->dump().c_str());
  } else {
    std::printf("prefill of %lld tokens: %.0f tokens/s\n",
                static_cast<long long>(given.prefill),
                (*figures)["prefill_tokens_per_s"].get<double>());
    for (const auto& [context, ms] : (*figures)["decode_ms"].items()) {
      std::printf("decode at %s: %.2f ms a token\n", context.c_str(),
                  ms.get<double>());
    }
  }
  return 0;
}
