// An actor system without threads: messages run when a test says so. The only
// place that names CAF's test scheduler.
#pragma once

#include "actors/interfaces/actors.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>
#include <gtest/gtest.h>

namespace kvloom::test {

class actor_fixture : public testing::Test {
protected:
  actor_fixture()
      : system(config), sched(dynamic_cast<caf::scheduler::test_coordinator&>(
                            system.scheduler())),
        self(system) {}

  /// Runs all messages that can be run.
  void run() { sched.run(); }

  /// Takes a message out of our own mailbox; a failure if there is none.
  template <class... Handlers>
  void take(Handlers... handlers) {
    bool none = false;
    self->receive(
        handlers...,
        caf::after(std::chrono::seconds(0)) >> [&] { none = true; });
    EXPECT_FALSE(none) << "no message came";
  }

  bool mailbox_is_empty() { return self->mailbox().empty(); }

  struct system_config : caf::actor_system_config {
    system_config() {
      set("scheduler.policy", caf::atom("testing"));
      add_message_types<caf::id_block::kvloom>();
    }
  };

  system_config config;
  caf::actor_system system;
  caf::scheduler::test_coordinator& sched;
  caf::scoped_actor self;
};

} // namespace kvloom::test
