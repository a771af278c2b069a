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

/// Names an entry of one tier; given by whoever owns the tier, and not given
/// again while a policy knows it.
using entry_id = std::uint64_t;

/// A request's number in the queue; a later request has a larger one.
using queue_turn = std::uint64_t;

/// What a policy may know of an entry.
struct entry_facts {
  std::int64_t bytes = 0; ///< > 0
  double recompute_s = 0; ///< seconds to make it again; 0: not known
};

/// Not thread-safe. Deterministic: the same calls give the same victims; of
/// equals the one that was inserted first goes. Every call costs O(log n) of
/// the entries known, but where said otherwise.
class eviction_policy {
public:
  eviction_policy() = default;
  eviction_policy(const eviction_policy&) = delete;
  eviction_policy& operator=(const eviction_policy&) = delete;
  virtual ~eviction_policy() = default;

  virtual std::string_view name() const = 0;

  /// A new entry; counts as its first use. An id that is known already: the
  /// entry is replaced.
  virtual void inserted(entry_id id, const entry_facts& facts) = 0;
  /// A hit. `recompute_s` as measured last (pgdsf averages it); 0: not known.
  virtual void used(entry_id id, double recompute_s) = 0;
  /// Gone, evicted or not. Unknown ids are ignored.
  virtual void erased(entry_id id) = 0;

  /// Entries that queued requests will use, nearest first; replaces what was
  /// told before. Unknown ids are ignored, also if they are inserted later.
  /// Only look-ahead listens. O(m log n) for m entries.
  virtual void will_use(std::span<const entry_id> /*soon*/) {}

  /// The same for one entry, for owners who follow the queue step by step:
  /// the next queued request that uses it; none: no queued request does. Not
  /// to be mixed with will_use().
  virtual void next_use(entry_id /*id*/, std::optional<queue_turn> /*turn*/) {}

  /// The entry to evict next out of those that `may_go`; none if no entry may.
  /// It stays until erased() is called. O(k log k + log n) where k entries
  /// that may not go come before it.
  virtual std::optional<entry_id>
  victim(const std::function<bool(entry_id)>& may_go) = 0;
};

/// Each entry has a rank, the lowest goes:
///
///     fifo   when it was inserted
///     lru    when it was last used
///     lfu    uses since it was inserted
///     gdsf   clock + uses / bytes      (cost 1: the hits count, not the work)
///     pgdsf  clock + uses * s / bytes  (s: mean of the measured seconds)
///
/// set at every use; `clock` rises to the rank of each entry that was a victim
/// and is erased. An entry without a measured second counts as s = its bytes
/// times the mean seconds per byte of all measurements so far.
///
/// look_ahead+X (look_ahead alone: X is lru) keeps the entries of queued
/// requests: X decides among the others; if none of those may go, the entry
/// whose next queued use is furthest goes, whatever X says.
/// Errors: bad_input naming the known ones.
result<std::unique_ptr<eviction_policy>>
make_eviction_policy(std::string_view name);

/// All names that make_eviction_policy takes.
std::span<const std::string_view> eviction_policy_names();

} // namespace kvloom::storage
