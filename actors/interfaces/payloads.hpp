// What travels on the edges of a graph. Small, immutable, shared: ids, numbers
// and handles, never tensors. No actor library in here.
#pragma once

#include "actors/support/language_model.hpp"
#include "core/base/result.hpp"
#include "core/record/question.hpp"
#include "core/record/request_result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::actors {

/// A question to be asked in this run. Known before anything is spawned, so
/// that every one of them ends in exactly one result.
struct planned_request {
  std::uint64_t sequence = 0; ///< place in the run, counted from 0
  std::uint32_t repeat = 0;
  bool warmup = false; ///< runs the same path, counts in no statistic
  std::shared_ptr<const question> asked;
};

using request_plan = std::shared_ptr<const std::vector<planned_request>>;

/// A planned request that was emitted.
struct open_request {
  planned_request plan;
  std::int64_t emitted_ns = 0;  ///< core clock
  std::int64_t deadline_ns = 0; ///< core clock; a later answer is a failure
};

using request_ptr = std::shared_ptr<const open_request>;

/// Payload `Question`.
struct asked_question {
  request_ptr request;
  std::int64_t sent_ns = 0; ///< set by the port that sends it
};

/// Payload `Retrieved`.
struct retrieved {
  request_ptr request;
  /// What goes into the prompt, in its order.
  std::vector<std::shared_ptr<const passage>> passages;
  /// The same passages with scores, best first.
  std::vector<scored_passage> ranking;
  std::int64_t retrieve_ns = 0; ///< whole retrieval
  std::int64_t sent_ns = 0;     ///< set by the port that sends it
};

/// A request between its prompt and its answer: owned by one actor at a time
/// and handed on with the message, so its fields need no lock.
struct running_request {
  request_ptr request;
  request_result draft;               ///< filled as the work goes on
  std::vector<token_id> context_ids;  ///< opening and passages
  std::vector<token_id> question_ids; ///< closing
  std::int64_t capacity = 0;          ///< tokens of KV to reserve
  std::int64_t entered_ns = 0;        ///< into the prefiller's queue
  std::int64_t prompt_begin_ns = 0, prompt_end_ns = 0; ///< tokenisation
  std::unique_ptr<generation> kv;
  std::unique_ptr<token_chooser> chooser;
  token_id first_token = 0;
  std::int64_t first_token_ns = 0; ///< known on the host
  std::unique_ptr<answer_text> answer;
  std::vector<std::int64_t> token_ns; ///< when each token was known
  token_id last_token = 0;
  bool complete = false;        ///< the answer has ended
  std::optional<error> failure; ///< instead of an answer
};

using running_request_ptr = std::shared_ptr<running_request>;

/// Payload `Prefilled`: KV and first token are there.
struct prefilled {
  running_request_ptr work;
  std::int64_t sent_ns = 0; ///< set by the port that sends it
};

/// Payload `Answer`.
struct answered {
  request_ptr request;
  std::shared_ptr<const request_result> outcome;
  std::int64_t sent_ns = 0; ///< set by the port that sends it
};

/// A request that can't be answered.
struct request_failure {
  std::uint64_t sequence = 0;
  error why;
  /// What was known by then (retrieved passages, tokens); may be empty.
  std::shared_ptr<const request_result> partial;
};

/// The request that a payload is about.
inline const request_ptr& request_of(const asked_question& item) {
  return item.request;
}
inline const request_ptr& request_of(const retrieved& item) {
  return item.request;
}
inline const request_ptr& request_of(const prefilled& item) {
  return item.work->request;
}
inline const request_ptr& request_of(const answered& item) {
  return item.request;
}

/// The result of a request before anything is known but the question.
request_result blank_result(const planned_request& plan);

/// Place of a request for messages: `request "id"`.
std::string place_of(const planned_request& plan);

/// The error `deadline` if the request is past its own; no error before.
result<void> check_deadline(const open_request& request, std::int64_t now);

} // namespace kvloom::actors
