// Keeps the books of a run: every planned request ends exactly once, with an
// answer or with a reason. No actor library in here.
#pragma once

#include "actors/interfaces/payloads.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kvloom::actors {

/// Not thread-safe: the recorder owns it.
class request_ledger {
public:
  explicit request_ledger(request_plan plan);

  /// The request was emitted.
  void emitted(const request_ptr& request);

  /// Ends a request; false if it is unknown or had ended already, and then
  /// nothing is to be recorded.
  bool finish(std::uint64_t sequence);

  /// The failed result of a request, for the record.
  request_result failed_result(const request_failure& failure) const;

  /// Requests without a result that are past their deadline.
  std::vector<std::uint64_t> overdue(std::int64_t now) const;

  /// Requests without a result, emitted or not, in order.
  std::vector<std::uint64_t> unfinished() const;
  bool was_emitted(std::uint64_t sequence) const {
    return open_.contains(sequence);
  }

  std::size_t n_open() const { return open_.size(); }
  /// An emitted request without a result; null if it is none.
  request_ptr open(std::uint64_t sequence) const;

  bool complete() const { return n_finished_ == plan_->size(); }
  std::uint64_t total() const { return plan_->size(); }
  std::uint64_t total_measured() const { return n_measured_; }
  const planned_request* find(std::uint64_t sequence) const;

private:
  request_plan plan_;
  std::vector<bool> finished_;                // [requests]
  std::map<std::uint64_t, request_ptr> open_; // emitted, no result yet
  std::uint64_t n_finished_ = 0;
  std::uint64_t n_measured_ = 0;
};

} // namespace kvloom::actors
