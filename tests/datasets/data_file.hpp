// Small data files for tests.
#pragma once

#include "datasets/dataset.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kvloom::datasets {

/// A file that is gone after the test.
class data_file {
public:
  explicit data_file(std::string_view content) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    static int n = 0;
    path_
        = std::filesystem::temp_directory_path()
          / ("kvloom-" + std::to_string(::getpid()) + "-"
             + std::string(test->name()) + "-" + std::to_string(n++) + ".json");
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~data_file() { std::filesystem::remove(path_); }
  data_file(const data_file&) = delete;
  data_file& operator=(const data_file&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

inline result<dataset> read_text(std::string_view content,
                                 const read_options& options = {}) {
  const data_file file(content);
  return read_dataset(file.path(), options);
}

/// Reads what must be good.
inline dataset read_good(std::string_view content,
                         const read_options& options = {}) {
  auto read = read_text(content, options);
  EXPECT_TRUE(read.has_value()) << to_string(read.error());
  return read ? std::move(*read) : dataset{};
}

/// The message, place first, of what must be refused.
inline std::string refusal(std::string_view content,
                           const read_options& options = {}) {
  const auto read = read_text(content, options);
  EXPECT_FALSE(read.has_value()) << content;
  if (read) return {};
  EXPECT_EQ(read.error().code, errc::bad_input);
  return to_string(read.error());
}

} // namespace kvloom::datasets
