#include "report/write/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <thread>

namespace kvloom::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> all;
  for (const auto& one : fs::directory_iterator(folder))
    all.push_back(one.path().filename());
  return all;
}

request_result line(const std::string& id) {
  request_result one;
  one.id = id;
  return one;
}

class folder_of_a_run : public testing::Test {
protected:
  void SetUp() override {
    base_ = fs::temp_directory_path()
            / ("kvloom-run-" + std::to_string(::getpid()));
    fs::create_directories(base_);
  }
  void TearDown() override { fs::remove_all(base_); }
  fs::path base_;
};

TEST_F(folder_of_a_run, is_made_with_the_folders_above_it) {
  auto made = run_folder::create(base_ / "a" / "b" / "run/");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  EXPECT_EQ(made->path(), base_ / "a" / "b" / "run");
  EXPECT_THAT(names(made->path()), UnorderedElementsAre("results.jsonl"));
}

TEST_F(folder_of_a_run, that_exists_is_left_as_it_is) {
  fs::create_directories(base_ / "run");
  std::ofstream(base_ / "file") << "x";
  fs::create_symlink(base_ / "nowhere", base_ / "link");
  for (const auto* name : {"run", "run/", "file", "link", "."}) {
    const auto made = run_folder::create(base_ / name);
    ASSERT_FALSE(made.has_value()) << name;
    EXPECT_EQ(made.error().code, errc::bad_input) << name;
    EXPECT_THAT(made.error().message, HasSubstr("exists"));
  }
  EXPECT_TRUE(names(base_ / "run").empty());
  EXPECT_EQ(content(base_ / "file"), "x");
  EXPECT_FALSE(run_folder::create("").has_value());
}

TEST_F(folder_of_a_run, that_cannot_be_made_leaves_nothing) {
  std::ofstream(base_ / "file") << "x";
  for (const auto& path : {fs::path("/proc/kvloom/run"), base_ / "file" / "run",
                           base_ / "new" / std::string(300, 'x')}) {
    const auto made = run_folder::create(path);
    ASSERT_FALSE(made.has_value()) << path;
    EXPECT_EQ(made.error().code, errc::environment) << path;
    EXPECT_THAT(made.error().message, HasSubstr("--out"));
  }
  EXPECT_THAT(names(base_), UnorderedElementsAre("file"));
}

TEST_F(folder_of_a_run, takes_lines_one_by_one) {
  auto folder = run_folder::create(base_ / "run").value();
  for (const auto* id : {"a", "b"}) {
    ASSERT_TRUE(folder.append_result(line(id)).has_value());
    // Whole at every moment: another process sees it at once.
    EXPECT_TRUE(content(base_ / "run" / "results.jsonl").ends_with("\n"));
  }
  EXPECT_EQ(content(base_ / "run" / "results.jsonl"),
            to_json_line(line("a")) + "\n" + to_json_line(line("b")) + "\n");
}

TEST_F(folder_of_a_run, takes_files_whole) {
  auto folder = run_folder::create(base_ / "run").value();
  ASSERT_TRUE(folder.write_file("summary.json", "old").has_value());
  ASSERT_TRUE(folder.write_file("summary.json", "{}").has_value());
  EXPECT_EQ(content(base_ / "run" / "summary.json"), "{}");
  EXPECT_FALSE(folder.write_file("none/x.json", "{}").has_value());
  EXPECT_THAT(names(base_ / "run"),
              UnorderedElementsAre("results.jsonl", "summary.json"));
}

/// A limit on the size of files stands in for a full disk.
TEST_F(folder_of_a_run, a_full_disk_leaves_whole_lines_and_old_files) {
  auto folder = run_folder::create(base_ / "run").value();
  ASSERT_TRUE(folder.append_result(line("a")).has_value());
  ASSERT_TRUE(folder.write_file("summary.json", "old").has_value());
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = fs::file_size(base_ / "run" / "results.jsonl") + 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto appended = folder.append_result(line("b"));
  const auto written
      = folder.write_file("summary.json", std::string(100000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, errc::environment);
  EXPECT_FALSE(written.has_value());
  const auto file = base_ / "run" / "results.jsonl";
  EXPECT_EQ(content(file), to_json_line(line("a")) + "\n");
  EXPECT_EQ(content(base_ / "run" / "summary.json"), "old");
  EXPECT_EQ(names(base_ / "run").size(), 2U);
  // And goes on where there is room again.
  ASSERT_TRUE(folder.append_result(line("c")).has_value());
  EXPECT_EQ(content(file),
            to_json_line(line("a")) + "\n" + to_json_line(line("c")) + "\n");
}

TEST_F(folder_of_a_run, many_at_once_and_one_gets_it) {
  std::vector<std::thread> threads;
  std::vector<int> got(8, 0);
  for (std::size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      got[i] = run_folder::create(base_ / "one" / "run").has_value() ? 1 : 0;
    });
  for (auto& one : threads) one.join();
  EXPECT_EQ(std::count(got.begin(), got.end(), 1), 1);
}

TEST(default_run_path, is_named_after_run_and_time_and_differs) {
  std::set<std::string> paths;
  for (int i = 0; i < 8; ++i) paths.insert(default_run_path("rag full/ü"));
  EXPECT_EQ(paths.size(), 8U);
  EXPECT_TRUE(std::regex_match(
      *paths.begin(),
      std::regex("runs/rag_full_+-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}")))
      << *paths.begin();
  EXPECT_FALSE(default_run_path("..").filename().string().starts_with("."));
}

} // namespace
} // namespace kvloom::report
