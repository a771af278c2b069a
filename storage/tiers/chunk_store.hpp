// Chunk KV in two tiers: host memory over a folder of chunk files.
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "storage/identity/chunk_key.hpp"
#include "storage/identity/miss_reason.hpp"
#include "storage/tiers/slow_disk.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::storage {

struct chunk_store_options {
  std::filesystem::path dir;       ///< of the disk tier; empty: there is none
  std::int64_t host_bytes = 0;     ///< cap of KV in host memory, > 0
  std::int64_t disk_bytes = 0;     ///< cap of the files; 0: none
  std::string host_policy = "lru"; ///< names of make_eviction_policy()
  std::string disk_policy = "lru";
  std::string form = "bf16"; ///< that the identities of all chunks must have
  bool read_only = false;    ///< nothing in `dir` is changed
  disk_speed disk;           ///< slows reads and writes of files down
  std::size_t prefetch_queue = 64; ///< most prefetches that wait
};

enum class residency : std::uint8_t { absent, disk, host };
const char* to_string(residency tier);

/// What fetch() gives: a lease, or why there is none.
struct fetched {
  kv_lease lease;                         ///< null on a miss
  miss_reason reason = miss_reason::none; ///< of a miss
  std::string message;                    ///< of a miss, for people
  residency from = residency::absent;     ///< of a hit
  std::int64_t bytes_read = 0; ///< KV bytes that this call took from disk
  std::int64_t load_ns = 0;    ///< from call to return
};

/// What put() did; `reason` none: the host tier has it (maybe since before).
struct put_outcome {
  miss_reason reason = miss_reason::none;
  std::string message;
};

struct put_notes {
  std::string text;       ///< of the passage, kept in the file
  double recompute_s = 0; ///< seconds that it took to make; 0: not known
};

enum class prefetch_answer : std::uint8_t {
  queued,
  resident, ///< nothing to do
  absent,   ///< there is no disk tier
  full,     ///< too many wait already
};

/// Counts since open(); the bytes are those of now.
struct chunk_store_stats {
  std::int64_t hits_host = 0, hits_disk = 0;
  std::array<std::int64_t, n_miss_reasons> misses{};       ///< of fetch()
  std::array<std::int64_t, n_miss_reasons> refused_puts{}; ///< of put()
  std::int64_t bytes_read = 0, bytes_written = 0; ///< KV read; files written
  std::int64_t files_written = 0, write_failures = 0;
  std::int64_t evictions_host = 0, evictions_disk = 0;
  std::int64_t prefetched = 0;      ///< brought to the host ahead of use
  std::int64_t prefetch_late = 0;   ///< asked for before, or past its deadline
  std::int64_t prefetch_wasted = 0; ///< evicted without use
  std::int64_t prefetch_unused = 0; ///< in the host, without use so far
  std::int64_t prefetch_failed = 0; ///< had a miss reason
  std::int64_t prefetch_cancelled = 0;
  std::int64_t quarantined = 0; ///< files renamed, or remembered as bad
  std::int64_t swept = 0;       ///< temporary files of dead writers
  std::int64_t open_leases = 0;
  std::int64_t used_bytes = 0;   ///< host: held and reserved, never > the cap
  std::int64_t leased_bytes = 0; ///< the part of it that someone else holds too
  std::int64_t disk_bytes = 0;
  std::int64_t host_chunks = 0, disk_chunks = 0;
  std::string last_failure; ///< words of the last write or prefetch that failed
};

struct resident_chunk {
  std::string key;
  std::optional<std::int64_t> n_tokens; ///< none: the file was not opened yet
  std::int64_t bytes = 0;               ///< of KV in the host, of the file
  residency tier = residency::absent;
  bool pinned = false;
};

/// Any thread may call anything. Files are read in the caller's thread, written
/// and prefetched in two threads of the store; no lock is held meanwhile.
/// Failures are answers with a reason, never exceptions.
///
/// The host never holds more than host_bytes. A chunk that someone holds
/// (lease, or the pointer that was put) is not evicted: where all is held, new
/// chunks are refused. Leases may outlive the store.
///
/// With a lossy form, put() keeps what a reader of the file would get: what a
/// chunk's values are does not depend on where it lies.
///
/// Several processes may use one folder; each counts the files that it knows.
class chunk_store {
public:
  /// Makes the folder, sweeps what dead writers left, indexes the files by name
  /// and evicts down to disk_bytes. Errors: bad_input (options), environment.
  static result<std::unique_ptr<chunk_store>> open(chunk_store_options options);

  /// Drops prefetches, writes what is unsaved.
  ~chunk_store();
  chunk_store(const chunk_store&) = delete;
  chunk_store& operator=(const chunk_store&) = delete;

  /// Where the index says the chunk is; does no I/O.
  residency lookup(std::string_view key) const;
  /// The same, but asks the file system before it says absent.
  residency probe(std::string_view key);

  /// From the host, or from disk into the host. Threads that ask for the same
  /// chunk at the same time share one read.
  fetched fetch(const chunk_identity& identity);

  /// Into the host now, to disk later. `chunk` must not be changed any more.
  put_outcome put(const chunk_identity& identity,
                  std::shared_ptr<const kv_chunk> chunk,
                  const put_notes& notes = {});

  /// Asks for disk to host in the background: higher priority first, then
  /// earlier deadline, then first come. deadline_ns counts on now_ns(), 0:
  /// none; what has not begun by then is dropped as late. Asking again replaces
  /// priority and deadline.
  prefetch_answer prefetch(std::string_view key, int priority,
                           std::int64_t deadline_ns = 0);
  /// Takes it back; false if it was not waiting or running, or if a fetch()
  /// already waits for it.
  bool cancel(std::string_view key);

  /// Keeps a chunk of the host from being evicted; pins add up. False if it is
  /// not in the host.
  bool pin(std::string_view key);
  void unpin(std::string_view key);

  /// Keys that queued requests will use, nearest first, for look-ahead.
  void will_use(std::span<const std::string> keys);

  /// Waits until all that was put before is on disk or has failed.
  void flush();

  chunk_store_stats stats() const;
  /// Both tiers, host first, by key; a chunk in both is listed twice.
  std::vector<resident_chunk> resident() const;
  const chunk_store_options& options() const;

private:
  class state;
  explicit chunk_store(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

} // namespace kvloom::storage
