#include "storage/tiers/chunk_store.hpp"

#include "core/base/clock.hpp"
#include "storage/hdf5/chunk_file.hpp"
#include "storage/hdf5/chunk_folder.hpp"
#include "storage/tiers/tier_index.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kvloom::storage {

namespace fs = std::filesystem;

namespace {

std::size_t index_of(miss_reason reason) {
  return static_cast<std::size_t>(reason);
}

/// The file itself is wrong, and will be wrong next time.
bool is_bad_file(miss_reason reason) {
  return reason == miss_reason::damaged || reason == miss_reason::truncated
         || reason == miss_reason::foreign
         || reason == miss_reason::unknown_version
         || reason == miss_reason::wrong_identity;
}

/// Deletes nothing: gives up the holder's share of the chunk, then its count.
struct lease_end {
  std::shared_ptr<const kv_chunk> chunk;
  std::shared_ptr<std::atomic<std::int64_t>> open;

  void operator()(const kv_chunk*) {
    chunk.reset();
    --*open;
  }
};

} // namespace

const char* to_string(residency tier) {
  switch (tier) {
  case residency::absent:
    return "absent";
  case residency::disk:
    return "disk";
  case residency::host:
    return "host";
  }
  return "?";
}

/// Everything of the store. Members below `mutex_` are its to guard.
class chunk_store::state {
public:
  state(chunk_store_options options, std::unique_ptr<eviction_policy> host,
        std::unique_ptr<eviction_policy> disk)
      : options_(std::move(options)), speed_(options_.disk),
        host_(options_.host_bytes, std::move(host)),
        disk_(options_.disk_bytes, std::move(disk)) {}

  ~state() { close(); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  result<void> open_folder();
  result<void> start_threads();

  residency lookup(const std::string& key) const;
  residency probe(const std::string& key);
  fetched fetch(const chunk_identity& identity);
  put_outcome put(const chunk_identity& identity,
                  std::shared_ptr<const kv_chunk> chunk,
                  const put_notes& notes);
  prefetch_answer prefetch(const std::string& key, int priority,
                           std::int64_t deadline_ns);
  bool cancel(const std::string& key);
  bool pin(const std::string& key);
  void unpin(const std::string& key);
  void will_use(std::span<const std::string> keys);
  void flush();
  chunk_store_stats stats() const;
  std::vector<resident_chunk> resident() const;
  const chunk_store_options& options() const { return options_; }

private:
  using locked = std::unique_lock<std::mutex>;

  /// A chunk of the host.
  struct held_chunk {
    std::shared_ptr<const kv_chunk> chunk;
    std::shared_ptr<const chunk_identity> identity;
    double recompute_s = 0;
    int pins = 0;
    bool unused_prefetch = false;
  };

  /// A read from disk that runs; shared by all who wait for it.
  struct load {
    bool done = false;
    bool by_prefetch = false;
    bool late = false; ///< a prefetch that a fetch() waits for
    int n_waiting = 0;
    std::atomic<bool> stop{false};
    chunk_fault why; ///< reason none: `got` is there
    held_chunk got;
    std::int64_t bytes_read = 0;
  };

  /// A chunk that waits to be written.
  struct unsaved {
    std::string key;
    std::shared_ptr<const chunk_identity> identity;
    std::shared_ptr<const kv_chunk> chunk; ///< as computed
    put_notes notes;
    std::int64_t reserved_bytes = 0; ///< host room of a copy apart
  };

  struct wish {
    int priority = 0;
    std::int64_t deadline_ns = 0; ///< max: none
    std::uint64_t number = 0;
    std::string key;

    /// Next first.
    bool operator<(const wish& other) const {
      return std::tuple(-std::int64_t{priority}, deadline_ns, number)
             < std::tuple(-std::int64_t{other.priority}, other.deadline_ns,
                          other.number);
    }
  };

  bool has_disk() const { return !options_.dir.empty(); }
  void close();

  // ---- under the lock
  bool may_leave(const std::string& key) const;
  bool reserve_host(std::int64_t bytes);
  std::shared_ptr<const kv_chunk> leased(const held_chunk& held);
  fetched hit(const std::string& key, const held_chunk& held, residency from,
              const chunk_identity& asked);
  fetched miss(const chunk_fault& why);
  put_outcome refuse(miss_reason reason, std::string message);
  bool is_known(const std::string& key) const;
  bool forget_wish(const std::string& key);
  void keep(const std::string& key, std::int64_t reserved_bytes,
            held_chunk made);
  void count_use(const std::string& key);

  // ---- give the lock back and take it again
  bool find_file(locked& lock, const std::string& key);
  std::optional<fetched> share_load(locked& lock, const std::string& key,
                                    const chunk_identity& identity);
  std::shared_ptr<load> run_load(locked& lock, const std::string& key,
                                 const chunk_identity* identity);
  void finish_load(const std::string& key, load& running,
                   chunk_result<held_chunk> outcome, bool renamed);

  // ---- without the lock
  chunk_result<held_chunk> read_file(const std::string& key,
                                     const chunk_identity* identity,
                                     load& running);
  bool quarantine(const std::string& key, const chunk_fault& why);
  void write_back();
  chunk_result<written_chunk> write_file(const unsaved& job);
  chunk_result<std::int64_t> reserve_disk(const unsaved& job);
  void run_prefetches();

  const chunk_store_options options_;
  slow_disk speed_;
  /// Shared with the leases, which may live longer than the store.
  std::shared_ptr<std::atomic<std::int64_t>> open_leases_
      = std::make_shared<std::atomic<std::int64_t>>(0);

  mutable std::mutex mutex_;
  std::condition_variable work_;    ///< for the two threads
  std::condition_variable settled_; ///< a load or a write has ended
  tier_index host_, disk_;
  std::unordered_map<std::string, held_chunk> held_; ///< keys of host_
  std::unordered_map<std::string, std::shared_ptr<load>> loads_;
  std::unordered_map<std::string, chunk_fault> bad_; ///< not to be read again
  std::deque<unsaved> unsaved_;
  std::set<std::string> saving_; ///< in unsaved_ or being written
  std::set<wish> wishes_;
  std::uint64_t n_wishes_ = 0;
  bool closing_ = false;
  chunk_store_stats counts_;

  std::thread writer_, prefetcher_;
};

// ---- opening and closing --------------------------------------------------

result<void> chunk_store::state::open_folder() {
  if (!has_disk()) return {};
  if (!options_.read_only) {
    std::error_code code;
    fs::create_directories(options_.dir, code);
    if (code)
      return fail(errc::environment,
                  "can't make the folder of stored KV: " + code.message()
                      + "; name another, or none",
                  options_.dir.string());
    counts_.swept = sweep_temporaries(options_.dir);
  }
  auto files = list_chunk_files(options_.dir);
  if (!files) return pass_on(files);
  for (const auto& file : *files) disk_.adopt(file.key, file.file_bytes);
  if (options_.read_only) return {};
  for (const auto& key : disk_.trim()) {
    unlink(chunk_path(options_.dir, key).c_str());
    ++counts_.evictions_disk;
  }
  return {};
}

result<void> chunk_store::state::start_threads() {
  if (!has_disk()) return {};
  try {
    if (!options_.read_only) writer_ = std::thread([this] { write_back(); });
    prefetcher_ = std::thread([this] { run_prefetches(); });
  } catch (const std::system_error& why) {
    return fail(errc::environment,
                std::string("can't start the store's threads: ") + why.what());
  }
  return {};
}

void chunk_store::state::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    counts_.prefetch_cancelled += std::ssize(wishes_);
    wishes_.clear();
    for (const auto& [key, running] : loads_) running->stop = true;
  }
  work_.notify_all();
  if (prefetcher_.joinable()) prefetcher_.join();
  if (writer_.joinable()) writer_.join();
}

// ---- looking --------------------------------------------------------------

residency chunk_store::state::lookup(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  if (host_.contains(key)) return residency::host;
  if (bad_.contains(key)) return residency::absent;
  return disk_.contains(key) ? residency::disk : residency::absent;
}

residency chunk_store::state::probe(const std::string& key) {
  {
    locked lock(mutex_);
    if (!is_known(key)) find_file(lock, key);
  }
  return lookup(key);
}

bool chunk_store::state::is_known(const std::string& key) const {
  return host_.contains(key) || disk_.contains(key) || bad_.contains(key);
}

/// Whether another process has published it since the index was made.
bool chunk_store::state::find_file(locked& lock, const std::string& key) {
  if (!has_disk() || !is_chunk_key(key)) return false;
  lock.unlock();
  std::error_code code;
  const auto bytes = fs::file_size(chunk_path(options_.dir, key), code);
  lock.lock();
  if (code) return false;
  if (!disk_.contains(key)) disk_.adopt(key, static_cast<std::int64_t>(bytes));
  return true;
}

// ---- the host's room ------------------------------------------------------

bool chunk_store::state::may_leave(const std::string& key) const {
  const auto& held = held_.at(key);
  // Shares are given out under the lock only, so a sole share stays one.
  return held.pins == 0 && held.chunk.use_count() == 1;
}

/// Frees the memory of victims at once: room that is given out is real.
bool chunk_store::state::reserve_host(std::int64_t bytes) {
  const auto gone = host_.reserve(
      bytes, [this](const std::string& key) { return may_leave(key); });
  if (!gone) return false;
  for (const auto& key : *gone) {
    const auto victim = held_.find(key);
    if (victim->second.unused_prefetch) ++counts_.prefetch_wasted;
    held_.erase(victim);
    ++counts_.evictions_host;
  }
  return true;
}

void chunk_store::state::keep(const std::string& key,
                              std::int64_t reserved_bytes, held_chunk made) {
  host_.insert(key, made.chunk->shape().bytes(), reserved_bytes,
               made.recompute_s);
  held_.insert_or_assign(key, std::move(made));
}

void chunk_store::state::count_use(const std::string& key) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  found->second.unused_prefetch = false;
  host_.used(key, found->second.recompute_s);
  disk_.used(key, found->second.recompute_s);
}

std::shared_ptr<const kv_chunk>
chunk_store::state::leased(const held_chunk& held) {
  ++*open_leases_;
  return {held.chunk.get(), lease_end{held.chunk, open_leases_}};
}

// ---- fetching -------------------------------------------------------------

fetched chunk_store::state::hit(const std::string& key, const held_chunk& held,
                                residency from, const chunk_identity& asked) {
  // Keys are digests; this is the proof.
  if (*held.identity != asked)
    return miss({miss_reason::wrong_identity,
                 "the chunk under the key " + key + " is another"});
  fetched got;
  got.lease = leased(held);
  got.from = from;
  ++(from == residency::host ? counts_.hits_host : counts_.hits_disk);
  count_use(key);
  return got;
}

fetched chunk_store::state::miss(const chunk_fault& why) {
  ++counts_.misses[index_of(why.reason)];
  fetched none;
  none.reason = why.reason;
  none.message = why.message;
  return none;
}

/// Waits for a load of that key; none if there is none, or if it was called
/// off: look again.
std::optional<fetched>
chunk_store::state::share_load(locked& lock, const std::string& key,
                               const chunk_identity& identity) {
  const auto found = loads_.find(key);
  if (found == loads_.end()) return std::nullopt;
  const auto running = found->second;
  running->late = true;
  ++running->n_waiting;
  settled_.wait(lock, [&] { return running->done; });
  --running->n_waiting;
  if (running->why.reason == miss_reason::cancelled) return std::nullopt;
  if (running->why.reason != miss_reason::none) return miss(running->why);
  return hit(key, running->got, residency::disk, identity);
}

fetched chunk_store::state::fetch(const chunk_identity& identity) {
  const auto begin = now_ns();
  const auto key = chunk_key(identity);
  const auto timed = [&](fetched got) {
    got.load_ns = now_ns() - begin;
    return got;
  };
  locked lock(mutex_);
  bool looked = false;
  for (;;) {
    if (const auto found = held_.find(key); found != held_.end())
      return timed(hit(key, found->second, residency::host, identity));
    if (loads_.contains(key)) {
      if (auto shared = share_load(lock, key, identity))
        return timed(std::move(*shared));
      continue;
    }
    if (const auto bad = bad_.find(key); bad != bad_.end())
      return timed(miss(bad->second));
    if (disk_.contains(key)) break;
    if (looked || !has_disk())
      return timed(miss({miss_reason::absent, "no KV is stored under " + key}));
    looked = true;
    find_file(lock, key);
  }
  if (forget_wish(key)) ++counts_.prefetch_late;
  const auto done = run_load(lock, key, &identity);
  if (done->why.reason != miss_reason::none) return timed(miss(done->why));
  auto got = hit(key, done->got, residency::disk, identity);
  got.bytes_read = done->bytes_read;
  return timed(std::move(got));
}

std::shared_ptr<chunk_store::state::load>
chunk_store::state::run_load(locked& lock, const std::string& key,
                             const chunk_identity* identity) {
  const auto running = std::make_shared<load>();
  running->by_prefetch = identity == nullptr;
  loads_.emplace(key, running);
  lock.unlock();
  chunk_result<held_chunk> outcome;
  try {
    outcome = read_file(key, identity, *running);
  } catch (const std::exception& why) {
    outcome = fault(miss_reason::no_memory, key + ": " + why.what());
  }
  const bool renamed = !outcome && is_bad_file(outcome.error().reason)
                       && quarantine(key, outcome.error());
  lock.lock();
  finish_load(key, *running, std::move(outcome), renamed);
  loads_.erase(key);
  running->done = true;
  settled_.notify_all();
  return running;
}

/// On success the host has a reservation of the chunk's bytes.
chunk_result<chunk_store::state::held_chunk>
chunk_store::state::read_file(const std::string& key,
                              const chunk_identity* identity, load& running) {
  const auto path = chunk_path(options_.dir, key);
  auto file = open_chunk_file(path);
  if (!file) return pass_on(file);
  const auto& about = file->metadata();
  if (about.key != key || (identity != nullptr && about.identity != *identity))
    return fault(miss_reason::wrong_identity,
                 path.string() + ": holds the chunk " + about.key);
  const auto bytes = file->shape().bytes();
  const auto due
      = speed_.book(about.places.kv.bytes + about.places.scales.bytes);
  {
    const std::lock_guard lock(mutex_);
    if (!host_.fits(bytes))
      return fault(miss_reason::too_large,
                   key + ": " + std::to_string(bytes)
                       + " bytes are more than the host tier may hold ("
                       + std::to_string(options_.host_bytes) + ")");
    if (!reserve_host(bytes))
      return fault(miss_reason::no_room,
                   key
                       + ": all else in the host tier is in use; raise its cap "
                         "or run fewer requests at once");
  }
  auto chunk = file->read_chunk();
  if (speed_.slows()) slow_disk::wait_until(due, running.stop);
  if (!chunk || running.stop) {
    const std::lock_guard lock(mutex_);
    host_.release(bytes);
    if (!chunk) return pass_on(chunk);
    return fault(miss_reason::cancelled, key + ": the prefetch was called off");
  }
  running.bytes_read = about.places.kv.bytes + about.places.scales.bytes;
  held_chunk made;
  made.chunk = std::move(*chunk);
  made.identity = std::make_shared<const chunk_identity>(about.identity);
  made.unused_prefetch = running.by_prefetch;
  return made;
}

/// Whether the file has left its name. A file of another version is left to
/// the program that knows it.
bool chunk_store::state::quarantine(const std::string& key,
                                    const chunk_fault& why) {
  if (options_.read_only || why.reason == miss_reason::unknown_version)
    return false;
  const auto path = chunk_path(options_.dir, key);
  std::error_code code;
  fs::rename(path, path.string() + ".bad", code);
  return !code;
}

void chunk_store::state::finish_load(const std::string& key, load& running,
                                     chunk_result<held_chunk> outcome,
                                     bool renamed) {
  counts_.bytes_read += running.bytes_read;
  if (!outcome) {
    running.why = std::move(outcome.error());
    const auto reason = running.why.reason;
    if (reason == miss_reason::absent) disk_.erase(key);
    if (is_bad_file(reason)) {
      disk_.erase(key);
      if (!renamed) bad_.insert_or_assign(key, running.why);
      ++counts_.quarantined;
    }
    if (running.by_prefetch && reason != miss_reason::cancelled) {
      ++counts_.prefetch_failed;
      counts_.last_failure = running.why.message;
    }
    return;
  }
  const auto bytes = outcome->chunk->shape().bytes();
  if (const auto found = held_.find(key); found != held_.end()) {
    // Someone put it meanwhile.
    outcome->chunk.reset();
    host_.release(bytes);
    running.got = found->second;
    return;
  }
  if (running.by_prefetch) ++counts_.prefetched;
  running.got = *outcome;
  keep(key, bytes, std::move(*outcome));
}

// ---- putting --------------------------------------------------------------

put_outcome chunk_store::state::refuse(miss_reason reason,
                                       std::string message) {
  ++counts_.refused_puts[index_of(reason)];
  return {reason, std::move(message)};
}

put_outcome chunk_store::state::put(const chunk_identity& identity,
                                    std::shared_ptr<const kv_chunk> chunk,
                                    const put_notes& notes) {
  const auto form = parse_kv_form(identity.form);
  const auto same = chunk ? check_identity(identity, *chunk)
                          : fault(miss_reason::wrong_identity, "no chunk");
  const auto key = chunk_key(identity);
  locked lock(mutex_);
  if (!same) return refuse(same.error().reason, same.error().message);
  if (!form || identity.form != options_.form)
    return refuse(miss_reason::wrong_identity,
                  "a chunk in the form `" + identity.form
                      + "` was put into a store of the form `" + options_.form
                      + "`");
  if (held_.contains(key)) return {};
  const auto bytes = chunk->shape().bytes();
  const bool saves = has_disk() && !options_.read_only && !closing_
                     && !disk_.contains(key) && !bad_.contains(key)
                     && !saving_.contains(key);
  const bool alike
      = same_bits(*form, chunk->shape().type) || *form == kv_form::f32;
  const auto copy_bytes = saves && !alike ? bytes : 0;
  if (!host_.fits(bytes + copy_bytes))
    return refuse(miss_reason::too_large,
                  key + ": " + std::to_string(bytes + copy_bytes)
                      + " bytes are more than the host tier may hold ("
                      + std::to_string(options_.host_bytes)
                      + "); raise its cap or make chunks shorter");
  if (!reserve_host(bytes + copy_bytes))
    return refuse(miss_reason::no_room,
                  key
                      + ": all else in the host tier is in use or not yet on "
                        "disk; raise its cap or run fewer requests at once");
  auto stored = chunk;
  if (!alike) {
    lock.unlock();
    auto decoded = as_stored(*form, chunk);
    lock.lock();
    if (!decoded || held_.contains(key)) {
      host_.release(bytes + copy_bytes);
      if (decoded) return {};
      return refuse(decoded.error().code == errc::environment
                        ? miss_reason::no_memory
                        : miss_reason::not_encodable,
                    decoded.error().message);
    }
    stored = std::move(*decoded);
  }
  held_chunk made;
  made.chunk = std::move(stored);
  made.identity = std::make_shared<const chunk_identity>(identity);
  made.recompute_s = notes.recompute_s;
  // Another thread may have queued it while the lock was away.
  const bool saves_now = saves && !saving_.contains(key);
  if (saves_now) {
    saving_.insert(key);
    unsaved_.push_back(
        {key, made.identity, std::move(chunk), notes, copy_bytes});
  } else {
    host_.release(copy_bytes);
  }
  keep(key, bytes, std::move(made));
  lock.unlock();
  if (saves_now) work_.notify_all();
  return {};
}

// ---- writing back ---------------------------------------------------------

void chunk_store::state::write_back() {
  locked lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return closing_ || !unsaved_.empty(); });
    if (unsaved_.empty()) return; // closing
    auto job = std::move(unsaved_.front());
    unsaved_.pop_front();
    lock.unlock();
    chunk_result<written_chunk> written;
    try {
      written = write_file(job);
    } catch (const std::exception& why) {
      written = fault(miss_reason::no_memory, job.key + ": " + why.what());
    }
    job.chunk.reset();
    lock.lock();
    host_.release(job.reserved_bytes);
    saving_.erase(job.key);
    if (!written) {
      ++counts_.write_failures;
      counts_.last_failure = std::move(written.error().message);
    } else if (!written->was_there) {
      ++counts_.files_written;
      counts_.bytes_written += written->file_bytes;
    }
    settled_.notify_all();
  }
}

/// Takes room in the disk tier, removing the files of those who leave.
chunk_result<std::int64_t>
chunk_store::state::reserve_disk(const unsaved& job) {
  const auto most = most_file_bytes(*job.identity, job.notes.text);
  if (!most) return most;
  std::vector<std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    if (!disk_.fits(*most))
      return fault(miss_reason::too_large,
                   job.key + ": a file of " + std::to_string(*most)
                       + " bytes is more than the disk tier may hold ("
                       + std::to_string(options_.disk_bytes) + ")");
    auto leaving
        = disk_.reserve(*most, [](const std::string&) { return true; });
    if (!leaving)
      return fault(miss_reason::no_room, job.key + ": the disk tier is full");
    gone = std::move(*leaving);
    counts_.evictions_disk += std::ssize(gone);
  }
  for (const auto& key : gone) unlink(chunk_path(options_.dir, key).c_str());
  return most;
}

chunk_result<written_chunk> chunk_store::state::write_file(const unsaved& job) {
  const auto reserved = reserve_disk(job);
  if (!reserved) return tl::unexpected(reserved.error());
  const auto due = speed_.book(*reserved);
  auto written = write_chunk_file(options_.dir, *job.identity, *job.chunk,
                                  job.notes.text);
  // Waits also while closing: what is unsaved is written at the disk's speed.
  if (speed_.slows()) slow_disk::wait_until(due, std::atomic<bool>(false));
  const std::lock_guard lock(mutex_);
  if (written && !disk_.contains(job.key))
    disk_.insert(job.key, written->file_bytes, *reserved,
                 job.notes.recompute_s);
  else
    disk_.release(*reserved);
  return written;
}

void chunk_store::state::flush() {
  locked lock(mutex_);
  settled_.wait(lock, [this] { return saving_.empty(); });
}

// ---- prefetching ----------------------------------------------------------

bool chunk_store::state::forget_wish(const std::string& key) {
  const auto found = std::ranges::find(wishes_, key, &wish::key);
  if (found == wishes_.end()) return false;
  wishes_.erase(found);
  return true;
}

prefetch_answer chunk_store::state::prefetch(const std::string& key,
                                             int priority,
                                             std::int64_t deadline_ns) {
  const std::lock_guard lock(mutex_);
  if (held_.contains(key)) return prefetch_answer::resident;
  if (!has_disk() || closing_) return prefetch_answer::absent;
  if (loads_.contains(key)) return prefetch_answer::queued;
  forget_wish(key);
  if (wishes_.size() >= options_.prefetch_queue) return prefetch_answer::full;
  if (deadline_ns == 0) deadline_ns = std::numeric_limits<std::int64_t>::max();
  wishes_.insert({priority, deadline_ns, n_wishes_++, key});
  work_.notify_all();
  return prefetch_answer::queued;
}

bool chunk_store::state::cancel(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (!forget_wish(key)) {
    const auto found = loads_.find(key);
    if (found == loads_.end() || !found->second->by_prefetch
        || found->second->n_waiting > 0 || found->second->stop)
      return false;
    found->second->stop = true;
  }
  ++counts_.prefetch_cancelled;
  return true;
}

void chunk_store::state::run_prefetches() {
  locked lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return closing_ || !wishes_.empty(); });
    if (closing_) return;
    const auto next = std::move(wishes_.extract(wishes_.begin()).value());
    if (next.deadline_ns < now_ns()) {
      ++counts_.prefetch_late;
      continue;
    }
    if (held_.contains(next.key) || loads_.contains(next.key)) continue;
    if (!is_known(next.key) && !find_file(lock, next.key)) {
      ++counts_.prefetch_failed;
      counts_.last_failure = "no KV is stored under " + next.key;
      continue;
    }
    // The lock may have been away.
    if (closing_ || held_.contains(next.key) || loads_.contains(next.key)
        || !disk_.contains(next.key))
      continue;
    const auto done = run_load(lock, next.key, nullptr);
    if (done->late || next.deadline_ns < now_ns()) ++counts_.prefetch_late;
  }
}

// ---- the rest -------------------------------------------------------------

bool chunk_store::state::pin(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(key);
  if (found == held_.end()) return false;
  ++found->second.pins;
  return true;
}

void chunk_store::state::unpin(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(key);
  if (found != held_.end() && found->second.pins > 0) --found->second.pins;
}

void chunk_store::state::will_use(std::span<const std::string> keys) {
  const std::lock_guard lock(mutex_);
  host_.will_use(keys);
  disk_.will_use(keys);
}

chunk_store_stats chunk_store::state::stats() const {
  const std::lock_guard lock(mutex_);
  auto now = counts_;
  now.open_leases = *open_leases_;
  now.used_bytes = host_.used_bytes();
  now.disk_bytes = disk_.used_bytes();
  now.host_chunks = std::ssize(held_);
  now.disk_chunks = static_cast<std::int64_t>(disk_.size());
  for (const auto& [key, held] : held_) {
    if (held.chunk.use_count() > 1)
      now.leased_bytes += held.chunk->shape().bytes();
    if (held.unused_prefetch) ++now.prefetch_unused;
  }
  return now;
}

std::vector<resident_chunk> chunk_store::state::resident() const {
  std::vector<resident_chunk> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, held] : held_)
      all.push_back({key, held.chunk->shape().n_tokens,
                     held.chunk->shape().bytes(), residency::host,
                     held.pins > 0});
    disk_.visit([&](const std::string& key, std::int64_t bytes) {
      resident_chunk one{key, std::nullopt, bytes, residency::disk, false};
      const auto found = held_.find(key);
      if (found != held_.end())
        one.n_tokens = found->second.chunk->shape().n_tokens;
      all.push_back(std::move(one));
    });
  }
  std::ranges::sort(all, {}, [](const resident_chunk& one) {
    return std::pair<bool, std::string_view>(one.tier != residency::host,
                                             one.key);
  });
  return all;
}

// ---- the outside ----------------------------------------------------------

chunk_store::chunk_store(std::unique_ptr<state> made)
    : state_(std::move(made)) {}
chunk_store::~chunk_store() = default;

result<std::unique_ptr<chunk_store>>
chunk_store::open(chunk_store_options options) {
  if (options.host_bytes <= 0 || options.disk_bytes < 0
      || options.disk.bytes_per_s < 0 || options.disk.latency.count() < 0)
    return fail(errc::bad_input,
                "the KV store wants a host cap above 0 bytes, and no negative "
                "disk cap, speed or latency");
  auto form = parse_kv_form(options.form);
  if (!form) return pass_on(form);
  auto host = make_eviction_policy(options.host_policy);
  if (!host) return pass_on(host);
  auto disk = make_eviction_policy(options.disk_policy);
  if (!disk) return pass_on(disk);
  auto made = std::make_unique<state>(std::move(options), std::move(*host),
                                      std::move(*disk));
  auto opened = made->open_folder();
  if (!opened) return pass_on(opened);
  auto started = made->start_threads();
  if (!started) return pass_on(started);
  return std::unique_ptr<chunk_store>(new chunk_store(std::move(made)));
}

residency chunk_store::lookup(std::string_view key) const {
  return state_->lookup(std::string(key));
}

residency chunk_store::probe(std::string_view key) {
  return state_->probe(std::string(key));
}

fetched chunk_store::fetch(const chunk_identity& identity) {
  return state_->fetch(identity);
}

put_outcome chunk_store::put(const chunk_identity& identity,
                             std::shared_ptr<const kv_chunk> chunk,
                             const put_notes& notes) {
  return state_->put(identity, std::move(chunk), notes);
}

prefetch_answer chunk_store::prefetch(std::string_view key, int priority,
                                      std::int64_t deadline_ns) {
  return state_->prefetch(std::string(key), priority, deadline_ns);
}

bool chunk_store::cancel(std::string_view key) {
  return state_->cancel(std::string(key));
}

bool chunk_store::pin(std::string_view key) {
  return state_->pin(std::string(key));
}

void chunk_store::unpin(std::string_view key) {
  state_->unpin(std::string(key));
}

void chunk_store::will_use(std::span<const std::string> keys) {
  state_->will_use(keys);
}

void chunk_store::flush() {
  state_->flush();
}

chunk_store_stats chunk_store::stats() const {
  return state_->stats();
}

std::vector<resident_chunk> chunk_store::resident() const {
  return state_->resident();
}

const chunk_store_options& chunk_store::options() const {
  return state_->options();
}

} // namespace kvloom::storage
