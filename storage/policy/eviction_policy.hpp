// Which entry of a full tier goes next: pure bookkeeping, without clocks, bytes
// in memory, files or threads. The live store and the simulator use the same
// objects (algorithms: docs/storage.md).
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace kvloom::storage {

/// Names an entry of one tier; given by whoever owns the tier, never reused.
using entry_id = std::uint64_t;

/// What a policy may know of an entry.
struct entry_facts {
  std::int64_t bytes = 0; ///< > 0
  double recompute_s = 0; ///< seconds to make it again; 0: not known
};

/// Not thread-safe. Deterministic: the same calls give the same victims; ties
/// go to the entry that was inserted first.
class eviction_policy {
public:
  eviction_policy() = default;
  eviction_policy(const eviction_policy&) = delete;
  eviction_policy& operator=(const eviction_policy&) = delete;
  virtual ~eviction_policy() = default;

  virtual std::string_view name() const = 0;

  /// A new entry; counts as its first use.
  virtual void inserted(entry_id id, const entry_facts& facts) = 0;
  /// A hit. `recompute_s` as measured last (pgdsf averages it); 0: not known.
  virtual void used(entry_id id, double recompute_s) = 0;
  /// Gone, evicted or not. Unknown ids are ignored.
  virtual void erased(entry_id id) = 0;

  /// Entries that queued requests will use, nearest first; replaces what was
  /// told before. Only look-ahead listens.
  virtual void will_use(std::span<const entry_id> /*soon*/) {}

  /// The entry to evict next out of those that `may_go`; none if no entry may.
  /// It stays until erased() is called.
  virtual std::optional<entry_id>
  victim(const std::function<bool(entry_id)>& may_go) = 0;
};

/// lru, lfu, fifo, gdsf, pgdsf, or look_ahead (lru), look_ahead+pgdsf, ...: any
/// of them with entries of queued requests kept. Errors: bad_input naming the
/// known ones.
result<std::unique_ptr<eviction_policy>>
make_eviction_policy(std::string_view name);

/// All names that make_eviction_policy takes.
std::span<const std::string_view> eviction_policy_names();

} // namespace kvloom::storage
