// Turns KV and a first token into an answer, one token a step; several
// requests step together.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/ports.hpp"
#include "actors/wiring/registry.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::actors {

struct decoder_options {
  std::int64_t max_new_tokens = 32;
  std::vector<std::string> stop;
  std::size_t batch = 8;        ///< requests that step together, at most
  std::int64_t turn_steps = 16; ///< steps before a waiting prefill goes first
};

/// The result of a request whose answer is complete. Error (internal): times
/// and tokens do not match.
result<std::shared_ptr<const request_result>>
finished_result(const running_request& work);

/// A request in the decoder.
struct decoding {
  running_request_ptr work;
  edge_id edge;
  /// What to report if the model never gives the request back: after a
  /// deadline it may still be writing to it.
  std::shared_ptr<const request_result> partial;
};

/// The requests of a decoder: those that wait and those that step together,
/// first come first served. No actor library in here.
class running_batch {
public:
  explicit running_batch(std::size_t most_rows) : most_rows_(most_rows) {}

  void add(decoding one) { waiting_.push_back(std::move(one)); }

  /// Fills free rows from those that wait. The rows of the next turn.
  const std::vector<decoding>& fill();

  /// Takes out the rows that are complete or failed.
  std::vector<decoding> take_ended();

  /// Takes out all rows (they failed together).
  std::vector<decoding> take_rows();

  /// True if one that waits could join the rows.
  bool can_join() const {
    return !waiting_.empty() && rows_.size() < most_rows_;
  }
  bool empty() const { return waiting_.empty() && rows_.empty(); }

private:
  std::size_t most_rows_;
  std::vector<decoding> rows_;
  std::deque<decoding> waiting_;
};

class decoder_state {
public:
  using pointer = stage_actor<prefilled>::pointer;
  static inline const char* name = "decoder";
  explicit decoder_state(pointer self) : self_(self) {}
  void init(decoder_options options, model_actor owner,
            std::shared_ptr<const language_model> model);
  stage_actor<prefilled>::behavior_type behavior();

private:
  void receive(edge_id edge, const prefilled& item);
  void take_turn();
  void end_request(const decoding& one);
  void fail_request(const decoding& one, error why);
  void end_if_empty();

  pointer self_;
  decoder_options options_;
  model_actor owner_;
  std::shared_ptr<const language_model> model_;
  run_links links_;
  in_port in_;
  out_port<answered> out_;
  std::unique_ptr<running_batch> batch_;
  /// Set while a turn is at the model: true asks it to come back.
  std::shared_ptr<std::atomic<bool>> give_way_;
};

stage_actor<prefilled>::behavior_type
decoder(stage_actor<prefilled>::stateful_pointer<decoder_state> self,
        const decoder_options& options, const model_actor& owner,
        const std::shared_ptr<const language_model>& model);

/// The kind `decoder`.
node_type decoder_type();

} // namespace kvloom::actors
