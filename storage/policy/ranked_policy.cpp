#include "storage/policy/ranked_policy.hpp"

#include <algorithm>
#include <utility>

namespace kvloom::storage {

ranked_policy::ranked_policy(std::string name, std::unique_ptr<ranking> order,
                             bool look_ahead)
    : name_(std::move(name)), order_(std::move(order)),
      look_ahead_(look_ahead) {}

std::optional<std::uint32_t> ranked_policy::slot_of(entry_id id) const {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return std::nullopt;
  return found->second;
}

void ranked_policy::add_measurement(entry& one, double recompute_s) {
  if (!(recompute_s > 0)) return;
  one.history.measured_s += recompute_s;
  ++one.history.measured;
  order_->measured(recompute_s, one.history.bytes);
}

void ranked_policy::inserted(entry_id id, const entry_facts& facts) {
  erased(id);
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_.emplace(id, slot);
  auto& one = entries_[slot];
  one = {};
  one.id = id;
  one.history.birth = one.history.last_use = ++calls_;
  one.history.bytes = std::max<std::int64_t>(facts.bytes, 1);
  add_measurement(one, facts.recompute_s);
  one.rank = order_->rank(one.history);
  idle_.push(slot, id, {one.rank, one.history.birth});
}

void ranked_policy::used(entry_id id, double recompute_s) {
  const auto slot = slot_of(id);
  if (!slot) return;
  auto& one = entries_[*slot];
  one.history.last_use = ++calls_;
  ++one.history.uses;
  one.chosen = false;
  add_measurement(one, recompute_s);
  one.rank = order_->rank(one.history);
  if (!one.queued) idle_.move(*slot, {one.rank, one.history.birth});
}

void ranked_policy::erased(entry_id id) {
  const auto slot = slot_of(id);
  if (!slot) return;
  const auto& one = entries_[*slot];
  if (one.chosen) order_->evicted(one.rank);
  (one.queued ? queued_ : idle_).erase(*slot);
  slots_.erase(id);
  free_slots_.push_back(*slot);
}

/// Moves an entry between the two heaps, or within the queued one.
void ranked_policy::set_turn(std::uint32_t slot,
                             std::optional<queue_turn> turn) {
  auto& one = entries_[slot];
  const auto birth = one.history.birth;
  if (!turn) {
    if (!one.queued) return;
    queued_.erase(slot);
    idle_.push(slot, one.id, {one.rank, birth});
  } else if (const entry_key key{-static_cast<double>(*turn), birth};
             one.queued) {
    queued_.move(slot, key);
  } else {
    idle_.erase(slot);
    queued_.push(slot, one.id, key);
  }
  one.queued = turn.has_value();
}

void ranked_policy::next_use(entry_id id, std::optional<queue_turn> turn) {
  if (!look_ahead_) return;
  if (const auto slot = slot_of(id)) set_turn(*slot, turn);
}

void ranked_policy::will_use(std::span<const entry_id> soon) {
  if (!look_ahead_) return;
  ++heard_;
  for (std::size_t i = 0; i < soon.size(); ++i) {
    const auto slot = slot_of(soon[i]);
    if (!slot || entries_[*slot].heard == heard_) continue;
    entries_[*slot].heard = heard_;
    set_turn(*slot, i);
  }
  std::vector<std::uint32_t> left;
  for (const auto& node : queued_.nodes())
    if (entries_[node.slot].heard != heard_) left.push_back(node.slot);
  for (const auto slot : left) set_turn(slot, std::nullopt);
}

std::optional<entry_id>
ranked_policy::victim(const std::function<bool(entry_id)>& may_go) {
  auto slot = idle_.first(may_go);
  if (!slot) slot = queued_.first(may_go);
  if (!slot) return std::nullopt;
  entries_[*slot].chosen = true;
  return entries_[*slot].id;
}

} // namespace kvloom::storage
