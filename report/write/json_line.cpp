#include "report/stats/statistics.hpp"
#include "report/write/run_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kvloom::report {

namespace {

/// Keeps the order of docs/formats.md.
using json = nlohmann::ordered_json;

/// Divided, so that 123456 ns reads 0.123456.
double ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void put_ms(json& to, const char* name, const std::optional<std::int64_t>& ns) {
  if (ns) to[name] = ms(*ns);
}

json parts_ms(const ttft_parts& parts) {
  json out = json::object();
  put_ms(out, "queue", parts.queue_ns);
  put_ms(out, "retrieve", parts.retrieve_ns);
  put_ms(out, "tokenize", parts.tokenize_ns);
  put_ms(out, "lookup", parts.lookup_ns);
  put_ms(out, "load", parts.load_ns);
  put_ms(out, "rotate", parts.rotate_ns);
  put_ms(out, "select", parts.select_ns);
  put_ms(out, "recompute", parts.recompute_ns);
  put_ms(out, "question", parts.question_ns);
  put_ms(out, "sample", parts.sample_ns);
  return out;
}

json gaps_ms(const std::vector<std::int64_t>& gaps_ns) {
  std::vector<double> gaps;
  gaps.reserve(gaps_ns.size());
  for (auto gap : gaps_ns) gaps.push_back(ms(gap));
  std::sort(gaps.begin(), gaps.end());
  return {{"p50", quantile(gaps, 0.50)},
          {"p95", quantile(gaps, 0.95)},
          {"p99", quantile(gaps, 0.99)},
          {"max", gaps.back()}};
}

json account(const token_account& tokens) {
  return {{"prompt", tokens.prompt},       {"prefix_hit", tokens.prefix_hit},
          {"chunk_hit", tokens.chunk_hit}, {"recomputed", tokens.recomputed},
          {"missed", tokens.missed},       {"output", tokens.output}};
}

json describe_prefill(const prefill_report& prefill) {
  json out{{"mode", prefill.mode}};
  if (prefill.selector) out["selector"] = *prefill.selector;
  if (prefill.ratio) out["ratio"] = *prefill.ratio;
  if (prefill.effective_share) {
    out["effective_share"] = *prefill.effective_share;
  }
  return out;
}

void put_answer(json& line, const request_result& from) {
  if (from.answer) line["answer"] = *from.answer;
  if (!from.golds.empty()) line["golds"] = from.golds;
  if (!from.token_ids.empty()) line["token_ids"] = from.token_ids;
  if (from.finish) line["finish"] = to_string(*from.finish);
  for (const auto& [name, value] : from.scores) {
    if (std::isfinite(value)) line["scores"][name] = value;
  }
}

void put_times(json& line, const request_result& from) {
  put_ms(line, "ttft_ms", from.ttft_ns);
  if (const auto tpot = from.tpot_ns()) line["tpot_ms"] = *tpot / 1e6;
  if (!from.itl_ns.empty()) line["itl_ms"] = gaps_ms(from.itl_ns);
  put_ms(line, "e2e_ms", from.e2e_ns);
  if (from.ttft_ns) line["ttft_parts_ms"] = parts_ms(from.parts);
  put_ms(line, "retrieve_ms", from.retrieve_ns);
}

void put_retrieval(json& line, const request_result& from) {
  for (const auto& one : from.retrieved) {
    json entry{{"chunk", one.index}};
    if (std::isfinite(one.score)) entry["score"] = one.score;
    if (!one.of_question.empty()) entry["question"] = one.of_question;
    line["retrieved"].push_back(std::move(entry));
  }
  if (!from.dropped_passages.empty()) {
    line["dropped_passages"] = from.dropped_passages;
  }
}

} // namespace

std::string to_json_line(const request_result& from) {
  json line{{"schema", "kvloom/result/1"},
            {"point", from.point},
            {"repeat", from.repeat}};
  if (from.warmup) line["warmup"] = true;
  line["id"] = from.id;
  line["status"] = from.ok ? "ok" : "failed";
  if (from.error_text) line["error"] = *from.error_text;
  line["question"] = from.question;
  put_answer(line, from);
  put_times(line, from);
  if (from.tokens) line["tokens"] = account(*from.tokens);
  put_retrieval(line, from);
  if (from.prefill) line["prefill"] = describe_prefill(*from.prefill);
  for (const auto& [id, logit] : from.first_logits) {
    if (!std::isfinite(logit)) continue;
    line["first_logits"].push_back({{"id", id}, {"logit", logit}});
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace kvloom::report
