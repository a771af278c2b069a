// The one owner of the model: runs one call at a time, prefill and decoding
// in turns. docs/decisions/0003-who-runs-the-model.md says why the steps of a
// decode turn run in here and not in the decoder.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/language_model.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kvloom::actors {

/// Shared by the model's owner and those who ask it; atomics only.
struct model_demand {
  /// Prefills that wait for the owner: a decode turn ends after its share of
  /// steps only if somebody waits.
  std::atomic<int> prefills_waiting{0};
};

/// How the first token is chosen and reported.
struct first_token_options {
  std::size_t first_logits = 0; ///< report the n largest
};

/// The work of the owner, without an actor. Thread: whichever runs the actor,
/// one at a time.
class model_work {
public:
  /// `stop` may be null; true makes every call end soon with `cancelled`.
  model_work(std::shared_ptr<language_model> model,
             std::shared_ptr<model_demand> demand,
             const std::atomic<bool>* stop, first_token_options options);

  /// Computes KV of context and question and the first token; fills KV,
  /// token, times and the parts of TTFT: consecutive readings of one clock,
  /// so that their sum is the TTFT to the nanosecond.
  result<void> prefill(running_request& work);

  /// Steps all rows together until one is complete or failed, give_way is
  /// set, or most_steps are done and a prefill waits. An error of the engine
  /// fails all rows of the turn.
  result<void> decode(decode_turn& turn);

  /// One of those that waited is served now.
  void prefill_begins() { demand_->prefills_waiting.fetch_sub(1); }

private:
  bool stopped() const {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }
  bool ends_turn(decode_turn& turn, std::int64_t steps) const;

  std::shared_ptr<language_model> model_;
  std::shared_ptr<model_demand> demand_;
  const std::atomic<bool>* stop_;
  first_token_options options_;
  // Rows of a step; members so that a step allocates nothing.
  std::vector<generation*> rows_;
  std::vector<token_id> ids_;
};

class model_owner_state {
public:
  static inline const char* name = "model-owner";
  explicit model_owner_state(model_actor::pointer) {}
  void init(std::shared_ptr<model_work> work) { work_ = std::move(work); }
  model_actor::behavior_type behavior();

private:
  std::shared_ptr<model_work> work_;
};

/// Spawn this detached: its handlers take as long as the model does.
model_actor::behavior_type
model_owner(model_actor::stateful_pointer<model_owner_state> self,
            std::shared_ptr<model_work> work);

} // namespace kvloom::actors
