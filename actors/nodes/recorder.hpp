// Scores answers, writes results, and is the place where every request ends.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/ports.hpp"
#include "actors/support/run_books.hpp"
#include "actors/wiring/registry.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <memory>

namespace kvloom::actors {

class recorder_state {
public:
  static inline const char* name = "recorder";
  explicit recorder_state(recorder_actor::pointer self) : self_(self) {}
  void init(std::shared_ptr<run_books> books) { books_ = std::move(books); }
  recorder_actor::behavior_type behavior();

private:
  void ended(std::uint64_t sequence);
  void ended_all(const std::vector<std::uint64_t>& sequences);

  recorder_actor::pointer self_;
  std::shared_ptr<run_books> books_;
  run_links links_;
  in_port in_;
  bool done_sent_ = false;
  bool gave_up_ = false; ///< after a line that could not be written
};

/// Spawn this detached: it writes to disk. `books` is its own until it ends.
recorder_actor::behavior_type
recorder(recorder_actor::stateful_pointer<recorder_state> self,
         const std::shared_ptr<run_books>& books);

/// The kind `recorder`.
node_type recorder_type();

} // namespace kvloom::actors
