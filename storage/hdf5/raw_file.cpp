#include "storage/hdf5/raw_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace kvloom::storage {

namespace {

/// Linux moves at most 2 GiB a call.
constexpr std::size_t most_at_once = 1U << 30;

tl::unexpected<chunk_fault> system_fault(const std::filesystem::path& path,
                                         const char* what) {
  const int code = errno;
  return fault(code == ENOENT ? miss_reason::absent : miss_reason::io_error,
               path.string() + ": can't " + what + ": " + std::strerror(code));
}

} // namespace

chunk_result<raw_file> raw_file::open(const std::filesystem::path& path,
                                      int flags) {
  raw_file made;
  do made.fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (made.fd_ < 0 && errno == EINTR);
  if (made.fd_ < 0) return system_fault(path, "open");
  made.path_ = path;
  return made;
}

raw_file::raw_file(raw_file&& other) noexcept {
  *this = std::move(other);
}

raw_file& raw_file::operator=(raw_file&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

raw_file::~raw_file() {
  if (fd_ >= 0) ::close(fd_);
}

chunk_result<std::int64_t> raw_file::size() const {
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) return system_fault(path_, "look at");
  if (!S_ISREG(facts.st_mode))
    return fault(miss_reason::foreign, path_.string() + ": not a file");
  return static_cast<std::int64_t>(facts.st_size);
}

chunk_result<void> raw_file::read_at(std::int64_t offset,
                                     std::span<std::byte> into) const {
  while (!into.empty()) {
    const auto n
        = pread(fd_, into.data(), std::min(into.size(), most_at_once), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_fault(path_, "read");
    if (n == 0)
      return fault(miss_reason::truncated, path_.string() + ": ends at byte "
                                               + std::to_string(offset)
                                               + ", inside its data");
    offset += n;
    into = into.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

chunk_result<void> raw_file::write_at(std::int64_t offset,
                                      std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto n = pwrite(fd_, bytes.data(),
                          std::min(bytes.size(), most_at_once), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_fault(path_, "write");
    offset += n;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

chunk_result<void> raw_file::resize(std::int64_t bytes) const {
  if (ftruncate(fd_, bytes) != 0) return system_fault(path_, "grow");
  return {};
}

chunk_result<void> raw_file::sync() const {
  if (fsync(fd_) != 0) return system_fault(path_, "sync");
  return {};
}

} // namespace kvloom::storage
