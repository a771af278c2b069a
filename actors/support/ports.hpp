// Ports of running nodes: edges with their credit. Thin over credit.hpp; the
// functions that send take the actor that owns the port.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/credit.hpp"
#include "core/base/clock.hpp"

#include <caf/actor_cast.hpp>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace kvloom::actors {

/// All edges that lead to one input. Owned by one actor.
class in_port {
public:
  void link(const in_link& link) {
    edges_.push_back({link.edge, credit_ledger{link.window},
                      caf::actor_cast<node_actor>(link.producer)});
  }

  /// Grants every producer its window.
  template <class Self>
  void open(Self self) {
    for (auto& one : edges_)
      if (const auto n = one.ledger.open(); n > 0)
        self->send(one.producer, credit_atom_v, one.edge, n);
  }

  /// Error (internal): sent without credit, after the end, or on an edge that
  /// leads elsewhere.
  result<void> received(edge_id edge) {
    auto* one = find(edge);
    if (one == nullptr)
      return fail(errc::internal, "a message came on an edge of another node");
    return one->ledger.received();
  }

  /// The message is out of this node: its credit goes back.
  template <class Self>
  void finished(Self self, edge_id edge) {
    auto* one = find(edge);
    if (one == nullptr) return;
    const auto back = one->ledger.finished();
    if (back && *back > 0)
      self->send(one->producer, credit_atom_v, edge, *back);
  }

  /// True when no edge can bring any more.
  bool end(edge_id edge) {
    if (auto* one = find(edge)) one->ledger.end();
    return ended();
  }

  bool ended() const {
    for (const auto& one : edges_)
      if (!one.ledger.ended()) return false;
    return true;
  }

  std::uint64_t in_flight() const {
    std::uint64_t sum = 0;
    for (const auto& one : edges_) sum += one.ledger.in_flight();
    return sum;
  }

private:
  struct entry {
    edge_id edge;
    credit_ledger ledger;
    node_actor producer;
  };

  entry* find(edge_id edge) {
    for (auto& one : edges_)
      if (one.edge == edge) return &one;
    return nullptr;
  }

  std::vector<entry> edges_;
};

/// The edge that leaves one output. What can't be sent yet waits here; the
/// queue is bounded by the windows of the node's inputs, since an input gets
/// its credit back only when the output made of it was sent.
template <class T>
class out_port {
public:
  void link(const out_link& link) {
    edge_ = link.edge;
    consumer_ = caf::actor_cast<consumer_of<T>>(link.consumer);
  }

  void grant(std::uint32_t n) { window_.grant(n); }

  /// True if a payload pushed now would be sent at once.
  bool ready() const { return waiting_.empty() && window_.can_send(); }

  std::size_t waiting() const { return waiting_.size(); }

  /// Queues a payload; `from` is the input edge whose credit it holds.
  void push(T payload, std::optional<edge_id> from) {
    waiting_.emplace_back(std::move(payload), from);
  }

  /// No payload will be pushed any more.
  void end() { ending_ = true; }

  /// Sends what credit allows; `on_sent` gets the input edge of each payload.
  template <class Self, class OnSent>
  void flush(Self self, OnSent&& on_sent) {
    while (!waiting_.empty() && window_.take()) {
      auto [payload, from] = std::move(waiting_.front());
      waiting_.pop_front();
      payload.sent_ns = now_ns();
      self->send(consumer_, item_atom_v, edge_, std::move(payload));
      if (from) on_sent(*from);
    }
    if (ending_ && waiting_.empty() && !window_.ended()) {
      window_.end();
      self->send(consumer_, end_atom_v, edge_);
    }
  }

  template <class Self>
  void flush(Self self, in_port& in) {
    flush(self, [&](edge_id from) { in.finished(self, from); });
  }

private:
  edge_id edge_;
  consumer_of<T> consumer_;
  credit_window window_;
  std::deque<std::pair<T, std::optional<edge_id>>> waiting_;
  bool ending_ = false;
};

} // namespace kvloom::actors
