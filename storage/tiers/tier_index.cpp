#include "storage/tiers/tier_index.hpp"

#include <algorithm>
#include <utility>

namespace kvloom::storage {

tier_index::tier_index(std::int64_t cap_bytes,
                       std::unique_ptr<eviction_policy> policy)
    : cap_bytes_(cap_bytes), policy_(std::move(policy)) {}

std::int64_t tier_index::bytes_that_may_go(const may_go& may_leave) const {
  std::int64_t bytes = 0;
  for (const auto& [key, held] : by_key_)
    if (may_leave(key)) bytes += held.bytes;
  return bytes;
}

std::vector<std::string> tier_index::evict_down_to(std::int64_t bytes,
                                                   const may_go& may_leave) {
  std::vector<std::string> gone;
  while (used_bytes_ > bytes) {
    const auto id = policy_->victim([&](entry_id one) {
      const auto found = by_id_.find(one);
      return found != by_id_.end() && may_leave(found->second);
    });
    if (!id) break;
    gone.push_back(by_id_.at(*id));
    erase(gone.back());
  }
  return gone;
}

std::optional<std::vector<std::string>>
tier_index::reserve(std::int64_t bytes, const may_go& may_leave) {
  if (!fits(bytes)) return std::nullopt;
  std::vector<std::string> gone;
  if (cap_bytes_ > 0 && used_bytes_ > cap_bytes_ - bytes) {
    const auto room = cap_bytes_ - bytes;
    if (used_bytes_ - bytes_that_may_go(may_leave) > room) return std::nullopt;
    gone = evict_down_to(room, may_leave);
  }
  used_bytes_ += bytes;
  return gone;
}

void tier_index::release(std::int64_t reserved_bytes) {
  used_bytes_ -= reserved_bytes;
}

void tier_index::add(const std::string& key, std::int64_t bytes,
                     double recompute_s) {
  const entry made{next_id_++, bytes};
  by_key_.emplace(key, made);
  by_id_.emplace(made.id, key);
  used_bytes_ += bytes;
  policy_->inserted(made.id, {std::max<std::int64_t>(1, bytes), recompute_s});
}

void tier_index::insert(const std::string& key, std::int64_t bytes,
                        std::int64_t reserved_bytes, double recompute_s) {
  release(reserved_bytes);
  add(key, bytes, recompute_s);
}

void tier_index::adopt(const std::string& key, std::int64_t bytes) {
  add(key, bytes, 0);
}

std::vector<std::string> tier_index::trim() {
  if (cap_bytes_ == 0) return {};
  return evict_down_to(cap_bytes_, [](const std::string&) { return true; });
}

void tier_index::used(const std::string& key, double recompute_s) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) policy_->used(found->second.id, recompute_s);
}

bool tier_index::erase(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return false;
  policy_->erased(found->second.id);
  used_bytes_ -= found->second.bytes;
  by_id_.erase(found->second.id);
  by_key_.erase(found);
  return true;
}

void tier_index::will_use(std::span<const std::string> keys) {
  std::vector<entry_id> ids;
  for (const auto& key : keys) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) ids.push_back(found->second.id);
  }
  policy_->will_use(ids);
}

void tier_index::visit(
    const std::function<void(const std::string& key, std::int64_t bytes)>& each)
    const {
  for (const auto& [key, held] : by_key_) each(key, held.bytes);
}

} // namespace kvloom::storage
