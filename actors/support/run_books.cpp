#include "actors/support/run_books.hpp"

#include "actors/support/guarded.hpp"
#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvloom::actors {

run_books::run_books(request_plan plan,
                     std::shared_ptr<report::run_folder> folder,
                     std::shared_ptr<const language_model> model,
                     const books_options& options)
    : ledger_(std::move(plan)), folder_(std::move(folder)),
      model_(std::move(model)), options_(options), activity_ns_(now_ns()) {
  // No more than the plan: doubling would cost its size again.
  record_.results.reserve(ledger_.total_measured());
}

void run_books::emitted(const request_ptr& request, std::int64_t now) {
  ledger_.emitted(request);
  activity_ns_ = now;
  longest_deadline_ns_ = std::max(longest_deadline_ns_,
                                  request->deadline_ns - request->emitted_ns);
  if (!request->plan.warmup && record_.first_ns == 0)
    record_.first_ns = request->emitted_ns;
}

void run_books::add_scores(request_result& line) const {
  if (!line.answer || line.golds.empty()) return;
  const auto clean = report::clean_answer(*line.answer, options_.cleaning);
  const auto scores = report::score_answer(clean, line.golds);
  if (!scores.scored) return;
  line.scores["em"] = scores.em;
  line.scores["f1"] = scores.f1;
  line.scores["rouge_l"] = scores.rouge_l;
  if (!options_.token_id_f1 || !model_) return;
  const auto ids = model_->encode(clean);
  if (!ids) return; // an answer in ids that no text can spell
  std::optional<double> best;
  for (const auto& gold : line.golds) {
    const auto gold_ids = model_->encode(gold);
    if (!gold_ids || gold_ids->empty()) continue;
    best = std::max(best.value_or(0), report::token_id_f1(*ids, *gold_ids));
  }
  if (best) line.scores["f1_token_ids"] = *best;
}

namespace {

/// What no summary needs and the folder holds: with it, a long run would grow
/// by the size of its data.
void forget_what_is_long(request_result& line) {
  line.question = {};
  line.golds = {};
  line.retrieved = {};
  line.first_logits = {};
  line.dropped_passages = {};
}

} // namespace

void run_books::keep(request_result line, std::int64_t now) {
  activity_ns_ = now;
  if (folder_ && !record_.write_failure) {
    auto written = guarded([&] { return folder_->append_result(line); });
    if (!written)
      record_.write_failure = std::move(written.error());
    else
      forget_what_is_long(line);
  }
  if (line.warmup) {
    ++record_.warmups;
    if (!line.ok) ++record_.failed_warmups;
    return;
  }
  record_.last_ns = now;
  if (!line.ok) ++failed_;
  record_.results.push_back(std::move(line));
}

bool run_books::answered(const actors::answered& item, std::int64_t now) {
  const auto sequence = item.request->plan.sequence;
  if (auto in_time = check_deadline(*item.request, now); !in_time)
    return failed({sequence, std::move(in_time.error()), item.outcome}, now);
  auto line = guarded([&]() -> result<request_result> {
    auto scored = *item.outcome;
    add_scores(scored);
    return scored;
  });
  if (!line)
    return failed({sequence, std::move(line.error()), item.outcome}, now);
  if (!ledger_.finish(sequence)) {
    ++record_.late;
    return false;
  }
  keep(std::move(*line), now);
  return true;
}

bool run_books::failed(const request_failure& failure, std::int64_t now) {
  if (!ledger_.finish(failure.sequence)) {
    ++record_.late;
    return false;
  }
  keep(ledger_.failed_result(failure), now);
  return true;
}

std::vector<std::uint64_t> run_books::abandon(const error& why,
                                              std::int64_t now) {
  auto rest = ledger_.unfinished();
  for (const auto sequence : rest) {
    const bool asked = ledger_.was_emitted(sequence);
    ledger_.finish(sequence);
    if (!asked && why.code == errc::cancelled)
      ++record_.not_asked;
    else
      keep(ledger_.failed_result({sequence, why, nullptr}), now);
  }
  return rest;
}

std::vector<std::uint64_t> run_books::check(std::int64_t now) {
  const auto late = ledger_.overdue(now);
  for (const auto sequence : late) {
    const auto in_time = check_deadline(*ledger_.open(sequence), now);
    failed({sequence, in_time.error(), nullptr}, now);
  }
  if (!late.empty() || ledger_.complete() || ledger_.n_open() > 0) return late;
  const auto limit = std::max(options_.least_stall_ns, longest_deadline_ns_);
  if (now - activity_ns_ <= limit) return late;
  return abandon(
      {errc::internal,
       fmt::format("no question could be asked for {:.1f} s and none is open: "
                   "some actor keeps what it was sent and gives no credit back",
                   to_ms(now - activity_ns_) * 1e-3),
       {}},
      now);
}

run_progress run_books::progress(std::int64_t now) const {
  run_progress so_far;
  so_far.done = record_.results.size();
  so_far.total = ledger_.total_measured();
  so_far.failed = failed_;
  if (record_.first_ns != 0 && now > record_.first_ns)
    so_far.requests_per_s = static_cast<double>(so_far.done)
                            / (to_ms(now - record_.first_ns) * 1e-3);
  return so_far;
}

} // namespace kvloom::actors
