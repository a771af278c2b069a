// All our policies: a ranking, and perhaps an eye on the queue.
#pragma once

#include "storage/policy/entry_heap.hpp"
#include "storage/policy/eviction_policy.hpp"
#include "storage/policy/ranking.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace kvloom::storage {

class ranked_policy final : public eviction_policy {
public:
  /// `look_ahead`: listen to will_use() and next_use().
  ranked_policy(std::string name, std::unique_ptr<ranking> order,
                bool look_ahead);

  std::string_view name() const override { return name_; }
  void inserted(entry_id id, const entry_facts& facts) override;
  void used(entry_id id, double recompute_s) override;
  void erased(entry_id id) override;
  void will_use(std::span<const entry_id> soon) override;
  void next_use(entry_id id, std::optional<queue_turn> turn) override;
  std::optional<entry_id>
  victim(const std::function<bool(entry_id)>& may_go) override;

private:
  struct entry {
    entry_id id = 0;
    entry_history history;
    double rank = 0;
    bool queued = false;     ///< in queued_, else in idle_
    bool chosen = false;     ///< was a victim and has not been used since
    std::uint64_t heard = 0; ///< number of the will_use() that named it
  };

  std::optional<std::uint32_t> slot_of(entry_id id) const;
  void add_measurement(entry& one, double recompute_s);
  void set_turn(std::uint32_t slot, std::optional<queue_turn> turn);

  std::string name_;
  std::unique_ptr<ranking> order_;
  bool look_ahead_;
  std::uint64_t calls_ = 0; ///< the time that rankings see
  std::uint64_t heard_ = 0;
  std::vector<entry> entries_;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<entry_id, std::uint32_t> slots_;
  entry_heap idle_;   ///< lowest rank first
  entry_heap queued_; ///< furthest next use first
};

} // namespace kvloom::storage
