#include "report/write/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

namespace kvloom::report {

namespace {

error system_error_at(const std::filesystem::path& place, std::string_view what,
                      int number) {
  return {errc::environment,
          fmt::format("{}: {}; name another folder with --out, or make room "
                      "and permissions",
                      what, std::strerror(number)),
          place.string()};
}

/// Writes all of `content`; the number of an error, 0 for none.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const auto n = ::write(file, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Makes a rename or a new name durable. Best effort: some file systems can't
/// sync a folder.
void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

/// Folders that had to be made above another.
class new_parents {
public:
  explicit new_parents(const std::filesystem::path& parent) {
    std::vector<std::filesystem::path> missing;
    for (auto at = parent; !at.empty() && at != at.parent_path();
         at = at.parent_path()) {
      if (std::filesystem::exists(at, problem) || problem) break;
      missing.push_back(at);
    }
    for (auto at = missing.rbegin(); at != missing.rend() && !problem; ++at) {
      // False without a problem: somebody else made it meanwhile.
      if (std::filesystem::create_directory(*at, problem) && !problem)
        made_.push_back(*at);
    }
    if (problem) remove();
  }

  void remove() const {
    std::error_code ignored; // a folder that has got other contents stays
    for (auto at = made_.rbegin(); at != made_.rend(); ++at)
      std::filesystem::remove(*at, ignored);
  }

  std::error_code problem;

private:
  std::vector<std::filesystem::path> made_;
};

} // namespace

struct run_folder::state {
  std::filesystem::path path;
  std::optional<new_parents> parents;
  std::vector<std::string> files; ///< that write_file wrote
  int results = -1;               ///< results.jsonl, for appending
  off_t whole_bytes = 0;          ///< of its whole lines

  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    if (results >= 0) ::close(results);
  }
};

run_folder::run_folder(std::unique_ptr<state> own) : state_(std::move(own)) {}
run_folder::~run_folder() = default;
run_folder::run_folder(run_folder&&) noexcept = default;
run_folder& run_folder::operator=(run_folder&&) noexcept = default;

const std::filesystem::path& run_folder::path() const {
  return state_->path;
}

result<run_folder> run_folder::create(const std::filesystem::path& given) {
  if (given.empty())
    return fail(errc::bad_input, "no folder for the results was given");
  auto path = given.lexically_normal();
  if (!path.has_filename()) path = path.parent_path(); // "out/"
  new_parents parents(path.parent_path());
  if (parents.problem) {
    return tl::unexpected<error>(
        system_error_at(path, "the folder above it cannot be created",
                        parents.problem.value()));
  }
  if (::mkdir(path.c_str(), 0777) != 0) {
    const int number = errno;
    parents.remove();
    if (number == EEXIST) {
      return fail(errc::bad_input,
                  "exists already and is left as it is; name a new folder "
                  "with --out or remove this one",
                  path.string());
    }
    return tl::unexpected<error>(
        system_error_at(path, "cannot be created", number));
  }
  auto own = std::make_unique<state>();
  own->path = path;
  const auto file = path / "results.jsonl";
  own->results = ::open(
      file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (own->results < 0) {
    const int number = errno;
    ::rmdir(path.c_str());
    parents.remove();
    return tl::unexpected<error>(
        system_error_at(file, "cannot be created", number));
  }
  own->parents.emplace(std::move(parents));
  return run_folder(std::move(own));
}

result<void> run_folder::write_file(const std::string& name,
                                    std::string_view content) {
  const auto target = state_->path / name;
  auto temporary = target;
  temporary += ".tmp";
  const int file = ::open(temporary.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return tl::unexpected<error>(
        system_error_at(target, "cannot be written", errno));
  }
  int number = write_all(file, content);
  if (number == 0 && ::fsync(file) != 0) number = errno;
  if (::close(file) != 0 && number == 0) number = errno;
  if (number == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) {
    number = errno;
  }
  if (number != 0) {
    ::unlink(temporary.c_str());
    return tl::unexpected<error>(
        system_error_at(target, "cannot be written", number));
  }
  state_->files.push_back(name);
  sync_folder(state_->path);
  return {};
}

void run_folder::discard() {
  if (state_->whole_bytes > 0) return;
  for (const auto& name : state_->files)
    ::unlink((state_->path / name).c_str());
  ::unlink((state_->path / "results.jsonl").c_str());
  // A folder that got other contents stays, and those above it.
  if (::rmdir(state_->path.c_str()) == 0) state_->parents->remove();
}

result<void> run_folder::append_result(const request_result& result) {
  const auto line = to_json_line(result) + "\n";
  const int number = write_all(state_->results, line);
  if (number != 0) {
    // Half a line is worse than none.
    const int cut = ::ftruncate(state_->results, state_->whole_bytes);
    return tl::unexpected<error>(system_error_at(
        state_->path / "results.jsonl",
        cut == 0 ? "a line cannot be written"
                 : "a line cannot be written, and its beginning is left",
        number));
  }
  state_->whole_bytes += static_cast<off_t>(line.size());
  return {};
}

std::filesystem::path default_run_path(const std::string& name) {
  const auto now = std::time(nullptr);
  struct tm utc = {};
  gmtime_r(&now, &utc);
  char time_text[32];
  std::strftime(time_text, sizeof time_text, "%Y%m%dT%H%M%SZ", &utc);
  std::string plain;
  for (const char letter : name) {
    const bool keep = std::isalnum(static_cast<unsigned char>(letter)) != 0
                      || letter == '-' || letter == '_' || letter == '.';
    plain += keep ? letter : '_';
  }
  if (plain.empty() || plain.front() == '.') plain.insert(0, "run");
  std::random_device device;
  return std::filesystem::path("runs")
         / fmt::format("{}-{}-{:06x}", plain, time_text, device() & 0xFFFFFFU);
}

} // namespace kvloom::report
