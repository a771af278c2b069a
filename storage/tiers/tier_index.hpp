// Which chunks a tier holds, how many bytes they take, and who goes next.
#pragma once

#include "storage/policy/eviction_policy.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kvloom::storage {

/// Book-keeping of one tier; not thread-safe. Bytes are held by entries and by
/// reservations (room for what is on its way); both count as used, and
/// used_bytes() never passes the cap but for adopt().
class tier_index {
public:
  using may_go = std::function<bool(const std::string& key)>;

  /// cap 0: no limit.
  tier_index(std::int64_t cap_bytes, std::unique_ptr<eviction_policy> policy);

  bool fits(std::int64_t bytes) const {
    return cap_bytes_ == 0 || bytes <= cap_bytes_;
  }

  /// Takes room; the keys that had to leave for it, first victim first. None,
  /// and nothing changed, if those that may go do not leave enough.
  std::optional<std::vector<std::string>> reserve(std::int64_t bytes,
                                                  const may_go& may_leave);
  void release(std::int64_t reserved_bytes);

  /// A new entry out of `reserved_bytes`, of which the rest is released.
  void insert(const std::string& key, std::int64_t bytes,
              std::int64_t reserved_bytes, double recompute_s);
  /// An entry that is there whatever the cap says.
  void adopt(const std::string& key, std::int64_t bytes);
  /// Takes out what is above the cap.
  std::vector<std::string> trim();

  bool contains(const std::string& key) const { return by_key_.contains(key); }
  void used(const std::string& key, double recompute_s);
  bool erase(const std::string& key);
  /// Nearest first; keys that are not here are passed over.
  void will_use(std::span<const std::string> keys);

  std::int64_t cap_bytes() const { return cap_bytes_; }
  std::int64_t used_bytes() const { return used_bytes_; }
  std::size_t size() const { return by_key_.size(); }
  /// Of every entry, in no order.
  void visit(const std::function<void(const std::string& key,
                                      std::int64_t bytes)>& each) const;

private:
  struct entry {
    entry_id id = 0;
    std::int64_t bytes = 0;
  };

  void add(const std::string& key, std::int64_t bytes, double recompute_s);
  std::int64_t bytes_that_may_go(const may_go& may_leave) const;
  std::vector<std::string> evict_down_to(std::int64_t bytes,
                                         const may_go& may_leave);

  std::int64_t cap_bytes_;
  std::int64_t used_bytes_ = 0;
  entry_id next_id_ = 1;
  std::unique_ptr<eviction_policy> policy_;
  std::unordered_map<std::string, entry> by_key_;
  std::unordered_map<entry_id, std::string> by_id_;
};

} // namespace kvloom::storage
