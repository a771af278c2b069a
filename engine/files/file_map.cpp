#include "engine/files/file_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace kvloom::engine {

namespace {

std::string reason(int code) {
  return std::generic_category().message(code);
}

struct descriptor {
  int number = -1;
  explicit descriptor(int opened) : number(opened) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

} // namespace

result<std::shared_ptr<const file_map>>
file_map::open(const std::filesystem::path& path) {
  // Not to hang on a pipe: its open would wait for a writer.
  const descriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0)
    return fail(errc::environment,
                "cannot be opened: " + reason(errno)
                    + "; check the path and its permissions",
                path.string());
  struct stat found {};
  if (::fstat(file.number, &found) != 0)
    return fail(errc::environment, "cannot be examined: " + reason(errno),
                path.string());
  if (!S_ISREG(found.st_mode))
    return fail(errc::environment, "is no regular file; a file was wanted here",
                path.string());
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size == 0)
    return fail(errc::environment,
                "is empty (0 bytes); download or copy it again", path.string());
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (start == MAP_FAILED)
    return fail(errc::environment, "cannot be mapped: " + reason(errno),
                path.string());
  return std::shared_ptr<const file_map>(
      new file_map(path, {static_cast<const std::byte*>(start), size}));
}

file_map::file_map(std::filesystem::path path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

file_map::~file_map() {
  // munmap takes a mutable pointer; nothing is written through it.
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace kvloom::engine
