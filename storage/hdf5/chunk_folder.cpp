#include "storage/hdf5/chunk_folder.hpp"

#include "storage/hdf5/chunk_file.hpp"
#include "storage/identity/chunk_key.hpp"

#include <signal.h> // NOLINT(modernize-deprecated-headers): kill
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

namespace kvloom::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_ending = ".h5";
constexpr std::string_view temporary_ending = ".tmp";
constexpr std::int64_t stale_after_s = 3600;

/// Calls `visit` for everything in the folders of two digits.
result<void> walk(const fs::path& folder,
                  const std::function<void(const fs::path&)>& visit) {
  std::error_code code;
  if (!fs::exists(folder, code) && !code) return {};
  const auto unreadable = [&] {
    return fail(errc::environment,
                "can't read the folder of stored KV: " + code.message(),
                folder.string());
  };
  fs::directory_iterator shelves(folder, code);
  if (code) return unreadable();
  for (; shelves != fs::directory_iterator(); shelves.increment(code)) {
    if (code) return unreadable();
    std::error_code ignored;
    if (shelves->path().filename().native().size() != 2
        || !shelves->is_directory(ignored))
      continue;
    fs::directory_iterator files(shelves->path(), code);
    if (code) return unreadable();
    for (; files != fs::directory_iterator(); files.increment(code)) {
      if (code) return unreadable();
      visit(files->path());
    }
  }
  return {};
}

std::optional<struct stat> facts_of(const fs::path& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts;
}

/// The key if this is where a chunk file of that key lies.
std::optional<std::string> key_of(const fs::path& path) {
  const auto name = path.filename().string();
  if (!name.ends_with(file_ending)) return std::nullopt;
  auto key = name.substr(0, name.size() - file_ending.size());
  if (!is_chunk_key(key)
      || path.parent_path().filename().string() != key.substr(0, 2))
    return std::nullopt;
  return key;
}

/// The writer's process, from `.<key>.h5.<pid>.<n>.tmp`.
std::optional<pid_t> writer_of(const fs::path& path) {
  const auto name = path.filename().string();
  if (!name.starts_with('.') || !name.ends_with(temporary_ending))
    return std::nullopt;
  const auto at = name.find(".h5.");
  if (at == std::string::npos) return std::nullopt;
  pid_t pid = 0;
  const auto* begin = name.data() + at + 4;
  const auto read = std::from_chars(begin, name.data() + name.size(), pid);
  if (read.ec != std::errc{} || pid <= 0) return std::nullopt;
  return pid;
}

bool is_stale(const fs::path& path, pid_t writer) {
  if (kill(writer, 0) != 0 && errno == ESRCH) return true;
  const auto facts = facts_of(path);
  return facts && std::time(nullptr) - facts->st_mtime > stale_after_s;
}

verified_file verify_file(const fs::path& path) {
  verified_file seen;
  seen.path = path;
  auto file = open_chunk_file(path);
  if (!file) {
    seen.why = std::move(file.error());
    return seen;
  }
  seen.n_tokens = file->shape().n_tokens;
  seen.file_bytes = file->metadata().file_bytes;
  auto good = file->verify();
  if (!good) {
    seen.why = std::move(good.error());
  } else if (file->metadata().key != key_of(path)) {
    seen.why = {miss_reason::wrong_identity,
                path.string() + ": holds the chunk " + file->metadata().key};
  } else {
    seen.ok = true;
  }
  return seen;
}

} // namespace

result<std::vector<found_chunk>> list_chunk_files(const fs::path& folder) {
  std::vector<found_chunk> found;
  auto walked = walk(folder, [&](const fs::path& path) {
    auto key = key_of(path);
    const auto facts = key ? facts_of(path) : std::nullopt;
    if (!facts || !S_ISREG(facts->st_mode)) return;
    found.push_back(
        {std::move(*key), facts->st_size,
         facts->st_mtim.tv_sec * 1'000'000'000 + facts->st_mtim.tv_nsec});
  });
  if (!walked) return pass_on(walked);
  std::ranges::sort(found, {}, [](const found_chunk& one) {
    return std::pair<std::int64_t, std::string_view>(one.modified_ns, one.key);
  });
  return found;
}

fs::path temporary_path(const fs::path& path) {
  // A later process with the same id begins at another number.
  static std::atomic<std::int64_t> made{
      std::chrono::system_clock::now().time_since_epoch().count()};
  return path.parent_path()
         / ("." + path.filename().string() + "." + std::to_string(getpid())
            + "." + std::to_string(made++) + std::string(temporary_ending));
}

std::int64_t sweep_temporaries(const fs::path& folder) {
  std::vector<fs::path> stale;
  // A folder that can't be read is told of by whoever lists it.
  static_cast<void>(walk(folder, [&](const fs::path& path) {
    const auto writer = writer_of(path);
    if (writer && is_stale(path, *writer)) stale.push_back(path);
  }));
  std::int64_t removed = 0;
  for (const auto& path : stale) removed += unlink(path.c_str()) == 0 ? 1 : 0;
  return removed;
}

result<std::vector<verified_file>> verify_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  auto walked = walk(folder, [&](const fs::path& path) {
    if (path.filename().string().ends_with(file_ending)) paths.push_back(path);
  });
  if (!walked) return pass_on(walked);
  std::ranges::sort(paths);
  std::vector<verified_file> all;
  for (const auto& path : paths) all.push_back(verify_file(path));
  return all;
}

} // namespace kvloom::storage
