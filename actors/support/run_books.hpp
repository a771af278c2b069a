// The record of a run: takes answers and failures, scores, writes a line for
// each, and knows when everything has ended. No actor library in here.
#pragma once

#include "actors/interfaces/payloads.hpp"
#include "actors/support/request_ledger.hpp"
#include "actors/wiring/progress.hpp"
#include "report/score/score.hpp"
#include "report/write/run_folder.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::actors {

/// What was recorded.
struct run_record {
  /// Warm-ups left out (they are on disk only). Once a line is on disk, its
  /// question, golds, passages and logits are dropped from here.
  std::vector<request_result> results;
  std::uint64_t warmups = 0;
  std::uint64_t failed_warmups = 0;
  std::uint64_t not_asked = 0; ///< planned, and cancelled before they began
  std::int64_t first_ns = 0;   ///< first counted question emitted; 0: none was
  std::int64_t last_ns = 0;    ///< last counted result in
  std::optional<error> write_failure; ///< the first one
  /// Answers and failures of requests that had already ended.
  std::uint64_t late = 0;
};

struct books_options {
  report::answer_cleaning cleaning = report::answer_cleaning::none;
  bool token_id_f1 = false; ///< score `f1_token_ids` as well
  /// Without an open request and without a new one for so long (or for as long
  /// as the longest deadline seen, if that is longer), the run is stuck: some
  /// node holds the credit of an edge for ever.
  std::int64_t least_stall_ns = 60'000'000'000;
};

/// Not thread-safe: the recorder owns it, and after the recorder's end whoever
/// leads the run. Sequences that a function returns are those that ended by
/// the call.
class run_books {
public:
  /// `folder` may be null: nothing is written. `model` may be null: no scores
  /// that count token ids.
  run_books(request_plan plan, std::shared_ptr<report::run_folder> folder,
            std::shared_ptr<const language_model> model,
            const books_options& options);

  void emitted(const request_ptr& request, std::int64_t now);

  /// False if the request had ended before. An answer past its deadline is
  /// recorded as a failure.
  bool answered(const answered& item, std::int64_t now);

  bool failed(const request_failure& failure, std::int64_t now);

  /// Ends all that is open. If the reason is `cancelled`, requests that were
  /// not emitted are counted and not recorded; else they fail like the others.
  std::vector<std::uint64_t> abandon(const error& why, std::int64_t now);

  /// Fails what is past its deadline, and everything if the run is stuck.
  std::vector<std::uint64_t> check(std::int64_t now);

  bool complete() const { return ledger_.complete(); }
  run_progress progress(std::int64_t now) const;
  const run_record& record() const { return record_; }

private:
  void keep(request_result line, std::int64_t now);
  void add_scores(request_result& line) const;

  request_ledger ledger_;
  std::shared_ptr<report::run_folder> folder_;
  std::shared_ptr<const language_model> model_;
  books_options options_;
  run_record record_;
  std::uint64_t failed_ = 0;
  std::int64_t activity_ns_ = 0;
  std::int64_t longest_deadline_ns_ = 0;
};

} // namespace kvloom::actors
