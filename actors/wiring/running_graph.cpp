#include "actors/wiring/running_graph.hpp"

#include "actors/support/errors.hpp"
#include "core/base/clock.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/after.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <utility>

namespace kvloom::actors {

namespace {

using std::chrono::milliseconds;

/// The recorder answers every check; one that has not for so long is stuck.
constexpr std::int64_t silence_limit_ns = 60'000'000'000;

std::int64_t to_ns(milliseconds time) {
  return std::chrono::nanoseconds(time).count();
}

/// The nodes in the order in which messages flow, sources first.
std::vector<std::size_t> flow_order(const graphs::graph& wiring) {
  const auto place_of_node = [&](const std::string& name) {
    return static_cast<std::size_t>(wiring.find(name) - wiring.nodes.data());
  };
  std::vector<std::size_t> waits_for(wiring.nodes.size(), 0);
  for (const auto& edge : wiring.edges)
    ++waits_for[place_of_node(edge.to_node)];
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < waits_for.size(); ++i)
    if (waits_for[i] == 0) ready.push_back(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const auto here = ready.front();
    ready.pop_front();
    order.push_back(here);
    for (const auto& edge : wiring.edges)
      if (edge.from_node == wiring.nodes[here].name
          && --waits_for[place_of_node(edge.to_node)] == 0)
        ready.push_back(place_of_node(edge.to_node));
  }
  // What lies on a cycle comes last, in the file's order.
  for (std::size_t i = 0; i < waits_for.size(); ++i)
    if (std::find(order.begin(), order.end(), i) == order.end())
      order.push_back(i);
  return order;
}

/// An actor that is watched.
struct watched {
  std::string name;
  caf::strong_actor_ptr handle;
  bool alive = true;
};

class run_leader {
public:
  run_leader(const graphs::run_plan& plan, const graph_parts& parts,
             const run_environment& environment)
      : plan_(plan.wiring), environment_(environment),
        demand_(std::make_shared<model_demand>()),
        books_(std::make_shared<run_books>(parts.requests, parts.folder,
                                           parts.model, parts.books)),
        config_(environment),
        system_(std::make_unique<caf::actor_system>(config_)),
        self_(std::make_unique<caf::scoped_actor>(*system_)) {}

  result<void> spawn(const std::vector<node_spawner>& spawners,
                     const graph_parts& parts);
  void wire_and_begin();
  /// Until every request has its result.
  result<void> wait();
  result<run_record> take_record();
  /// True if all actors have ended.
  bool end_all();

  bool interrupted() const { return interrupted_; }
  const std::optional<error>& lost() const { return lost_; }
  std::vector<std::string> survivors() const;

private:
  /// Few threads that sleep on a condition: with the default policy an idle
  /// worker polls with pauses of up to 10 ms, which would be added to the
  /// latency of every message.
  struct system_config : caf::actor_system_config {
    explicit system_config(const run_environment& environment) {
      set(config_key("scheduler.policy"), caf::atom("sharing"));
      set(config_key("scheduler.max-threads"),
          std::max<std::size_t>(1, environment.scheduler_threads));
      add_message_types<caf::id_block::kvloom>();
    }
  };

  void watch(const std::string& name, const caf::strong_actor_ptr& handle);
  /// Receives one message, or nothing for a poll interval.
  void receive_one();
  void on_down(const caf::down_msg& down);
  void on_progress(const run_progress& now);
  void abandon(const error& why);
  bool is_alive(const caf::strong_actor_ptr& handle) const;
  std::size_t n_alive() const;

  graphs::graph plan_; // a copy: this object may outlive its caller's data
  run_environment environment_;
  std::shared_ptr<model_demand> demand_;
  std::shared_ptr<run_books> books_;
  std::atomic<bool> stop_work_{false};
  system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<caf::scoped_actor> self_;
  std::vector<node_actor> nodes_; ///< in the order of the plan
  source_actor source_;
  ledger_actor ledger_;
  std::vector<watched> watched_;
  std::uint64_t shown_ = 0; ///< results that the caller was told of
  std::int64_t heard_ns_ = 0;
  bool done_ = false;
  bool interrupted_ = false;
  bool ending_ = false;
  std::optional<error> lost_;
};

void run_leader::watch(const std::string& name,
                       const caf::strong_actor_ptr& handle) {
  watched_.push_back({name, handle});
  (*self_)->monitor(caf::actor_cast<caf::actor>(handle));
}

result<void> run_leader::spawn(const std::vector<node_spawner>& spawners,
                               const graph_parts& parts) {
  const auto work = std::make_shared<model_work>(
      parts.model, demand_, &stop_work_, parts.first_token);
  const auto owner = system_->spawn<caf::detached>(model_owner, work);
  spawn_context at{.system = *system_,
                   .model = parts.model,
                   .owner = owner,
                   .demand = demand_,
                   .books = books_};
  for (std::size_t i = 0; i < spawners.size(); ++i) {
    auto node = spawners[i](at);
    nodes_.push_back(node.node);
    if (node.source) source_ = node.source;
    if (node.ledger) ledger_ = node.ledger;
    watch(plan_.nodes[i].name,
          caf::actor_cast<caf::strong_actor_ptr>(node.node));
  }
  // After the nodes: they end first.
  watch("the model's owner", caf::actor_cast<caf::strong_actor_ptr>(owner));
  if (!source_ || !ledger_)
    return fail(errc::internal, "the graph spawned no source or no recorder");
  return {};
}

void run_leader::wire_and_begin() {
  auto& self = *self_;
  const auto node_named = [&](const std::string& name) {
    return nodes_[static_cast<std::size_t>(plan_.find(name)
                                           - plan_.nodes.data())];
  };
  std::uint32_t number = 0;
  for (const auto& edge : plan_.edges) {
    const edge_id id{number++};
    const auto from = node_named(edge.from_node);
    const auto to = node_named(edge.to_node);
    self->send(from, link_out_atom_v,
               out_link{edge.from_port, id,
                        caf::actor_cast<caf::strong_actor_ptr>(to)});
    self->send(to, link_in_atom_v,
               in_link{edge.to_port, id,
                       static_cast<std::uint32_t>(edge.credit),
                       caf::actor_cast<caf::strong_actor_ptr>(from)});
  }
  const run_links links{ledger_, source_,
                        caf::actor_cast<supervisor_actor>(self->address())};
  heard_ns_ = now_ns();
  // Against the flow: whoever is sent something has its links by then, the
  // recorder above all, which every node tells of its failures. Credit may
  // come before `begin`; it waits until there is something to send.
  auto order = flow_order(plan_);
  std::reverse(order.begin(), order.end());
  for (const auto place : order) self->send(nodes_[place], begin_atom_v, links);
}

bool run_leader::is_alive(const caf::strong_actor_ptr& handle) const {
  const auto found
      = std::find_if(watched_.begin(), watched_.end(),
                     [&](const watched& one) { return one.handle == handle; });
  return found != watched_.end() && found->alive;
}

std::size_t run_leader::n_alive() const {
  return static_cast<std::size_t>(
      std::count_if(watched_.begin(), watched_.end(),
                    [](const watched& one) { return one.alive; }));
}

std::vector<std::string> run_leader::survivors() const {
  std::vector<std::string> names;
  for (const auto& one : watched_)
    if (one.alive) names.push_back(one.name);
  return names;
}

void run_leader::abandon(const error& why) {
  auto& self = *self_;
  self->send(source_, halt_atom_v);
  stop_work_ = true;
  if (is_alive(caf::actor_cast<caf::strong_actor_ptr>(ledger_))) {
    self->send(ledger_, abandon_atom_v, why);
    return;
  }
  // The books are free: their owner has ended.
  books_->abandon(why, now_ns());
  on_progress(books_->progress(now_ns()));
  done_ = true;
}

void run_leader::on_down(const caf::down_msg& down) {
  for (auto& one : watched_) {
    if (caf::actor_cast<caf::actor_addr>(one.handle) != down.source) continue;
    one.alive = false;
    if (ending_) return;
    if (!lost_) {
      const auto why = from_caf(down.reason);
      lost_ = error{errc::internal,
                    fmt::format("the actor '{}' ended before its time: {}",
                                one.name, to_string(why)),
                    {}};
    }
    if (!done_) abandon(*lost_);
    return;
  }
}

void run_leader::on_progress(const run_progress& now) {
  heard_ns_ = now_ns();
  if (now.done == shown_) return;
  shown_ = now.done;
  if (environment_.on_progress) environment_.on_progress(now);
}

void run_leader::receive_one() {
  (*self_)->receive(
      [this](progress_atom, const run_progress& now) { on_progress(now); },
      [this](done_atom) { done_ = true; },
      [this](const caf::down_msg& down) { on_down(down); },
      caf::after(environment_.poll) >> [] {});
}

result<void> run_leader::wait() {
  auto& self = *self_;
  auto next_check = now_ns();
  while (!done_) {
    receive_one();
    const auto now = now_ns();
    if (!interrupted_ && environment_.stop != nullptr
        && environment_.stop->load(std::memory_order_relaxed)) {
      interrupted_ = true;
      abandon({errc::cancelled, "the run was told to stop", {}});
    }
    if (now >= next_check && !done_) {
      self->send(ledger_, check_atom_v);
      next_check = now + to_ns(environment_.poll);
    }
    if (now - heard_ns_ > silence_limit_ns)
      return fail(errc::environment,
                  fmt::format("the recorder has given no answer for {:.0f} s: "
                              "is the disk of the results stuck?",
                              to_ms(now - heard_ns_) * 1e-3),
                  environment_.output.string());
  }
  return {};
}

result<run_record> run_leader::take_record() {
  if (!is_alive(caf::actor_cast<caf::strong_actor_ptr>(ledger_)))
    return books_->record();
  result<run_record> record;
  (*self_)
      ->request(ledger_, environment_.grace, hand_over_atom_v)
      .receive([&](const run_record_ptr& handed) { record = *handed; },
               [&](const caf::error& why) {
                 record = tl::unexpected<error>(from_caf(why));
               });
  return record;
}

bool run_leader::end_all() {
  ending_ = true;
  stop_work_ = true;
  auto& self = *self_;
  // In order of the flow: nobody is left that would send to one that ended.
  for (const auto place : flow_order(plan_))
    self->send_exit(nodes_[place], caf::exit_reason::user_shutdown);
  for (const auto& one : watched_)
    self->send_exit(caf::actor_cast<caf::actor>(one.handle),
                    caf::exit_reason::user_shutdown);
  const auto limit = now_ns() + to_ns(environment_.grace);
  while (n_alive() > 0 && now_ns() < limit) receive_one();
  nodes_.clear();
  source_ = nullptr;
  ledger_ = nullptr;
  return n_alive() == 0;
}

} // namespace

result<finished_run> run_graph(const graphs::run_plan& plan,
                               const std::vector<node_spawner>& spawners,
                               const graph_parts& parts,
                               const run_environment& environment) {
  auto leader = std::make_unique<run_leader>(plan, parts, environment);
  auto finished = guarded([&]() -> result<finished_run> {
    if (auto spawned = leader->spawn(spawners, parts); !spawned)
      return pass_on(spawned);
    leader->wire_and_begin();
    if (auto waited = leader->wait(); !waited) return pass_on(waited);
    auto record = leader->take_record();
    if (!record) return pass_on(record);
    return finished_run{
        std::move(*record), leader->interrupted(), leader->lost(), {}};
  });
  if (leader->end_all()) return finished;
  if (finished) finished->survivors = leader->survivors();
  // Threads that do not end still use it, and its destructor would wait for
  // them for ever. The caller is told to end the process.
  static auto& stuck = *new std::vector<run_leader*>;
  stuck.push_back(leader.release());
  return finished;
}

} // namespace kvloom::actors
