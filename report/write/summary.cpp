#include "core/base/clock.hpp"
#include "report/stats/statistics.hpp"
#include "report/write/run_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

namespace kvloom::report {

namespace {

using json = nlohmann::ordered_json;

/// One figure over the good requests of a run.
struct figure {
  std::string name;    ///< in summary.json, with its unit
  std::string label;   ///< in the table
  bool is_time = true; ///< else a share of 1
  sample of;
};

/// A number for each id, in the order in which they come.
class question_numbers {
public:
  std::size_t operator[](const std::string& id) {
    return numbers_.emplace(id, numbers_.size()).first->second;
  }

private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

void add(sample& to, const std::optional<std::int64_t>& ns,
         std::size_t question) {
  if (ns) to.add(to_ms(*ns), question);
}

std::vector<figure> figures_of(const std::vector<request_result>& results) {
  figure ttft{"ttft_ms", "TTFT, ms", true, {}};
  figure tpot{"tpot_ms", "TPOT, ms", true, {}};
  figure itl{"itl_ms", "ITL, ms", true, {}};
  figure e2e{"e2e_ms", "E2E, ms", true, {}};
  figure retrieve{"retrieve_ms", "retrieval, ms", true, {}};
  figure prompt{"prompt_tokens", "prompt, tokens", true, {}};
  std::map<std::string, sample> scores;
  question_numbers questions;
  for (const auto& one : results) {
    if (!one.ok || one.warmup) continue;
    const auto question = questions[one.id];
    add(ttft.of, one.ttft_ns, question);
    if (const auto ns = one.tpot_ns()) tpot.of.add(*ns * 1e-6, question);
    for (auto gap : one.itl_ns) itl.of.add(to_ms(gap), question);
    add(e2e.of, one.e2e_ns, question);
    add(retrieve.of, one.retrieve_ns, question);
    if (one.tokens)
      prompt.of.add(static_cast<double>(one.tokens->prompt), question);
    for (const auto& [name, value] : one.scores) {
      if (std::isfinite(value)) scores[name].add(value, question);
    }
  }
  std::vector<figure> all{std::move(ttft),     std::move(tpot),
                          std::move(itl),      std::move(e2e),
                          std::move(retrieve), std::move(prompt)};
  const std::map<std::string, std::string> labels{
      {"em", "EM"},
      {"f1", "F1"},
      {"rouge_l", "ROUGE-L"},
      {"f1_token_ids", "F1, token ids"}};
  for (auto& [name, of] : scores) {
    const auto label = labels.find(name);
    all.push_back({name, label == labels.end() ? name : label->second, false,
                   std::move(of)});
  }
  std::erase_if(all, [](const figure& one) { return one.of.values.empty(); });
  return all;
}

json parts_means(const std::vector<request_result>& results) {
  const std::vector<
      std::pair<const char*, std::optional<std::int64_t> ttft_parts::*>>
      parts{{"queue", &ttft_parts::queue_ns},
            {"retrieve", &ttft_parts::retrieve_ns},
            {"tokenize", &ttft_parts::tokenize_ns},
            {"lookup", &ttft_parts::lookup_ns},
            {"load", &ttft_parts::load_ns},
            {"rotate", &ttft_parts::rotate_ns},
            {"select", &ttft_parts::select_ns},
            {"recompute", &ttft_parts::recompute_ns},
            {"question", &ttft_parts::question_ns},
            {"sample", &ttft_parts::sample_ns}};
  json out = json::object();
  for (const auto& [name, member] : parts) {
    std::vector<double> values;
    for (const auto& one : results) {
      if (!one.ok || one.warmup || !(one.parts.*member)) continue;
      values.push_back(to_ms(*(one.parts.*member)));
    }
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    out[name] = {{"n", values.size()},
                 {"mean", mean(values)},
                 {"p50", quantile(values, 0.50)}};
  }
  return out;
}

/// What the means are over, and how many requests they lack.
void add_counts(json& out, const std::vector<request_result>& results,
                std::int64_t wall_ns) {
  json finish = json::object();
  std::uint64_t unscored = 0, without_tpot = 0, early = 0;
  std::int64_t tokens = 0;
  for (const auto& one : results) {
    if (!one.ok || one.warmup) continue;
    if (one.scores.empty()) ++unscored;
    if (!one.tpot_ns()) ++without_tpot;
    if (one.tokens) tokens += one.tokens->output;
    if (!one.finish) continue;
    const auto* name = to_string(*one.finish);
    finish[name] = finish.value(name, 0) + 1;
    if (*one.finish != finish_reason::length) ++early;
  }
  if (!finish.empty()) {
    out["finish"] = std::move(finish);
    out["ended_early"] = early;
  }
  out["unscored"] = unscored;
  out["without_tpot"] = without_tpot;
  out["output_tokens"] = tokens;
  if (wall_ns > 0)
    out["output_tokens_per_s"]
        = static_cast<double>(tokens) / (static_cast<double>(wall_ns) / 1e9);
}

json definitions() {
  return {{"em, f1", "SQuAD v1.1 normalisation, Unicode-aware; words; best "
                     "over the golds"},
          {"rouge_l", "F-measure, sentence level, Porter stemmer (NLTK); best "
                      "over the golds"},
          {"quantiles", "linear interpolation"},
          {"mean_ci95",
           "95 %, percentile cluster bootstrap over questions: each of 1000 "
           "resamples draws as many ids as have values, with replacement, and "
           "is the mean of all values of those drawn (repeats, gaps between "
           "tokens); seeded; with one id it is the mean itself"}};
}

json to_json(const sample_statistics& of) {
  return {{"n", of.n},
          {"mean", of.mean},
          {"mean_ci95", {of.mean_low, of.mean_high}},
          {"p50", of.p50},
          {"p95", of.p95},
          {"p99", of.p99},
          {"min", of.min},
          {"max", of.max}};
}

} // namespace

std::string
run_summary::to_json(const std::vector<request_result>& results) const {
  json out{{"schema", "kvloom/summary/1"},
           {"requests", requests},
           {"ok", ok},
           {"failed", failed},
           {"warmups", warmups},
           {"interrupted", interrupted},
           {"wall_ms", to_ms(wall_ns)}};
  for (const auto& one : figures_of(results)) {
    out[one.is_time ? "figures" : "scores"][one.name]
        = report::to_json(describe(one.of));
  }
  add_counts(out, results, wall_ns);
  out["definitions"] = definitions();
  if (auto parts = parts_means(results); !parts.empty()) {
    out["ttft_parts_ms"] = std::move(parts);
  }
  json failures = json::array();
  for (const auto& one : results) {
    if (one.ok || one.warmup) continue;
    failures.push_back({{"id", one.id},
                        {"repeat", one.repeat},
                        {"error", one.error_text.value_or("")}});
  }
  if (!failures.empty()) out["failures"] = std::move(failures);
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary_table(const std::vector<request_result>& results,
                          const run_summary& summary) {
  auto out = fmt::format("{:<16}{:>6}{:>11}{:>11}{:>11}   {}\n", "", "n",
                         "median", "p95", "mean", "95 % interval of mean");
  for (const auto& one : figures_of(results)) {
    const auto of = describe(one.of);
    const int digits = one.is_time ? 2 : 3;
    out += fmt::format("{:<16}{:>6}{:>11.{}f}{:>11.{}f}{:>11.{}f}   "
                       "[{:.{}f}, {:.{}f}]\n",
                       one.label, of.n, of.p50, digits, of.p95, digits, of.mean,
                       digits, of.mean_low, digits, of.mean_high, digits);
  }
  out += fmt::format("{} requests: {} ok, {} failed; {} warm-up; {:.1f} s{}",
                     summary.requests, summary.ok, summary.failed,
                     summary.warmups, to_ms(summary.wall_ns) / 1e3,
                     summary.interrupted ? "; interrupted" : "");
  return out;
}

} // namespace kvloom::report
