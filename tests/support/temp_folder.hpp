// A folder of its own for a test.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace kvloom::test_support {

/// Makes an empty folder and removes it with its content. Throws
/// std::filesystem::filesystem_error where it cannot be made.
class temp_folder {
public:
  temp_folder();
  ~temp_folder();
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

/// Writes a whole file; throws std::runtime_error where that fails.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Reads a whole file; throws std::runtime_error where that fails.
std::string read_file(const std::filesystem::path& path);

} // namespace kvloom::test_support
