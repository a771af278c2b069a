// Asks the questions of a data set, in a closed loop: a new one only against
// credit and while fewer than `open` are unanswered.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/ports.hpp"
#include "actors/wiring/registry.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <memory>

namespace kvloom::actors {

struct plan_options {
  bool shuffled = false;
  std::uint64_t seed = 0;
  std::int64_t repeat = 1;
  std::int64_t warmup = 0; ///< requests run first, from the front of the order
  std::int64_t offset = 0; ///< questions skipped at the front of the order
  std::int64_t limit = 0;  ///< questions of the order; 0: all
};

/// Every request of a run in its order: warm-ups (the order over again if
/// they are more than the questions), then the data set once a repeat.
request_plan plan_requests(const std::shared_ptr<const datasets::dataset>& data,
                           const plan_options& options);

/// Which request comes next, and whether it may. No actor library in here.
class emission {
public:
  /// `most_open` 0: bounded by credit alone. Deadlines count from emission.
  emission(request_plan plan, std::int64_t most_open, std::int64_t deadline_ns);

  /// False at the end, after halt(), while `most_open` are open, and while
  /// warm-ups are unanswered and a measured request would be next.
  bool may_emit() const;

  /// The next request; may_emit() must hold.
  request_ptr next(std::int64_t now);

  void finished(std::uint64_t sequence);
  void halt() { halted_ = true; }

  /// Nothing will be emitted any more.
  bool exhausted() const { return halted_ || next_ == plan_->size(); }
  std::uint64_t open() const { return n_open_; }

private:
  request_plan plan_;
  std::uint64_t most_open_;
  std::int64_t deadline_ns_;
  std::size_t next_ = 0;
  std::uint64_t n_open_ = 0;
  std::vector<bool> open_; // [requests]
  bool halted_ = false;
};

class question_source_state {
public:
  static inline const char* name = "question-source";
  explicit question_source_state(source_node_actor::pointer self)
      : self_(self) {}
  void init(emission questions) {
    questions_ = std::make_unique<emission>(std::move(questions));
  }
  source_node_actor::behavior_type behavior();

private:
  void pump();

  source_node_actor::pointer self_;
  std::unique_ptr<emission> questions_;
  run_links links_;
  bool begun_ = false;
  out_port<asked_question> out_;
};

source_node_actor::behavior_type
question_source(source_node_actor::stateful_pointer<question_source_state> self,
                const emission& questions);

/// A source that asks the questions of `data` in the way that the parameters
/// `order`, `open` and `deadline` say, as many of the order as `cut` leaves;
/// leaves data and plan in the context.
node_spawner source_of(const std::shared_ptr<const datasets::dataset>& data,
                       const configs::resolved_params& params,
                       prepare_context& context,
                       const datasets::read_options& cut = {});

/// The kind `question_source`.
node_type question_source_type();

} // namespace kvloom::actors
