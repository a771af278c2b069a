// A node that makes one payload out of one: the common case, and all that a
// user's own actor usually needs. Credit, the end of the stream, deadlines,
// exceptions and failed requests are taken care of here.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/errors.hpp"
#include "actors/support/ports.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kvloom::actors {

/// What a stage does to a payload. An error, or an exception, fails this
/// request and no other. Called by one thread at a time; must not wait.
template <class In, class Out>
using stage_function = std::function<result<Out>(const In&)>;

template <class In, class Out>
class stage_state {
public:
  using pointer = typename stage_actor<In>::pointer;
  static inline const char* name = "stage";

  explicit stage_state(pointer self) : self_(self) {}

  void init(stage_function<In, Out> work) { work_ = std::move(work); }

  void receive(edge_id edge, const In& payload) {
    const auto& request = request_of(payload);
    const auto made = guarded([&]() -> result<Out> {
      if (auto legal = in_.received(edge); !legal) return pass_on(legal);
      auto in_time = check_deadline(*request, now_ns());
      if (!in_time) return pass_on(in_time);
      return work_(payload);
    });
    if (made) {
      out_.push(*made, edge);
      out_.flush(self_, in_);
    } else {
      self_->send(links_.ledger, failed_atom_v,
                  request_failure{request->plan.sequence, made.error(), {}});
      in_.finished(self_, edge);
    }
  }

  typename stage_actor<In>::behavior_type behavior() {
    return {
        [this](link_out_atom, const out_link& link) { out_.link(link); },
        [this](link_in_atom, const in_link& link) { in_.link(link); },
        [this](begin_atom, const run_links& links) {
          links_ = links;
          in_.open(self_);
        },
        [this](credit_atom, edge_id, std::uint32_t n) {
          out_.grant(n);
          out_.flush(self_, in_);
        },
        [this](item_atom, edge_id edge, const In& payload) {
          receive(edge, payload);
        },
        [this](end_atom, edge_id edge) {
          if (!in_.end(edge)) return;
          out_.end();
          out_.flush(self_, in_);
        },
    };
  }

private:
  pointer self_;
  stage_function<In, Out> work_;
  run_links links_;
  in_port in_;
  out_port<Out> out_;
};

template <class In, class Out>
typename stage_actor<In>::behavior_type
stage(typename stage_actor<In>::template stateful_pointer<stage_state<In, Out>>
          self,
      const stage_function<In, Out>& work) {
  static_assert(!std::is_aggregate_v<stage_state<In, Out>>);
  self->set_exception_handler(exception_handler);
  self->state.init(work);
  return self->state.behavior();
}

/// Spawns a stage on the scheduler.
template <class In, class Out>
stage_actor<In> spawn_stage(caf::actor_system& system,
                            stage_function<In, Out> work) {
  return system.spawn(stage<In, Out>, std::move(work));
}

} // namespace kvloom::actors
