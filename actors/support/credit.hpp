// Flow control by credit, the arithmetic of it: who may send how much, and
// who has given how much. No actor library in here.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>

namespace kvloom::actors {

/// The producer's side of an edge: sends only against credit, nothing after
/// the end. Not thread-safe: one actor owns it.
class credit_window {
public:
  /// The consumer can take `n` more messages.
  void grant(std::uint32_t n) { available_ += n; }

  bool can_send() const { return available_ > 0 && !ended_; }

  /// Uses one unit; false (and nothing used) without credit or after the end.
  bool take();

  /// No message follows.
  void end() { ended_ = true; }

  bool ended() const { return ended_; }
  std::uint64_t available() const { return available_; }
  std::uint64_t sent() const { return sent_; }

private:
  std::uint64_t available_ = 0;
  std::uint64_t sent_ = 0;
  bool ended_ = false;
};

/// The consumer's side of an edge: grants its window once and one unit for
/// every message that it has finished, and notices a producer that sends
/// more. Conserved at all times: granted = outstanding + received, and
/// received - finished <= window. Not thread-safe: one actor owns it.
class credit_ledger {
public:
  explicit credit_ledger(std::uint32_t window) : window_(window) {}

  /// Credit to send upstream at the start: the whole window, once.
  std::uint32_t open();

  /// A message came. Error (internal): it came without credit, or after the
  /// end.
  result<void> received();

  /// A message is finished; credit to send upstream: 1, or 0 after the end.
  /// Error (internal): nothing was in work.
  result<std::uint32_t> finished();

  /// The producer said that no message follows.
  void end() { ended_ = true; }

  bool ended() const { return ended_; }
  std::uint32_t window() const { return window_; }
  /// Messages received and not finished.
  std::uint64_t in_flight() const { return received_ - finished_; }
  /// Credit that the producer holds.
  std::uint64_t outstanding() const { return granted_ - received_; }
  std::uint64_t granted() const { return granted_; }
  std::uint64_t received_count() const { return received_; }

private:
  std::uint32_t window_;
  std::uint64_t granted_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t finished_ = 0;
  bool opened_ = false;
  bool ended_ = false;
};

} // namespace kvloom::actors
