#include "tests/support/temp_folder.hpp"

#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace kvloom::test_support {

temp_folder::temp_folder() {
  std::string name
      = (std::filesystem::temp_directory_path() / "kvloom_test_XXXXXX")
            .string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::filesystem::filesystem_error(
        "cannot make a folder", name,
        std::error_code(errno, std::generic_category()));
  path_ = name;
}

temp_folder::~temp_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace kvloom::test_support
