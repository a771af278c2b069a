// The folder of a run: exclusive, written line by line, whole at every moment.
#pragma once

#include "core/base/result.hpp"
#include "core/record/request_result.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::report {

/// One line of results.jsonl, without the newline: the fields and names of
/// docs/formats.md; what does not apply is absent. Numbers are finite.
std::string to_json_line(const request_result& result);

/// Facts of a run that go into manifest.json.
struct run_manifest {
  std::map<std::string, std::string> digests;  ///< model, tokenizer, data, ...
  std::map<std::string, std::string> machine;  ///< by add_this_machine()
  std::map<std::string, std::string> settings; ///< effective: threads, ...
  std::map<std::string, std::string> versions;
  std::vector<std::string> command;
  std::vector<std::string> notes;
  std::uint64_t seed = 0;
};

/// Processor, cores, memory, kernel, load, of this machine; versions of the
/// libraries, SHA-256 of the running program.
void add_this_machine(run_manifest& manifest);

/// Medians, percentiles and means over the requests of a run.
struct run_summary {
  std::uint64_t requests = 0, ok = 0, failed = 0, warmups = 0;
  std::int64_t wall_ns = 0;
  bool interrupted = false;
  std::string to_json(const std::vector<request_result>& results) const;
};

/// The table for people: TTFT, TPOT, ITL, F1 with numbers of samples.
std::string summary_table(const std::vector<request_result>& results,
                          const run_summary& summary);

/// A run folder being written. Not thread-safe: one owner (the recorder).
class run_folder {
public:
  /// Creates `path` exclusively. Errors: bad_input if it exists, environment
  /// if it can't be created or written; folders above it are made where they
  /// are missing, and taken away again after a failure.
  static result<run_folder> create(const std::filesystem::path& path);
  ~run_folder();
  run_folder(run_folder&&) noexcept;
  run_folder& operator=(run_folder&&) noexcept;

  const std::filesystem::path& path() const;

  /// Writes a small file whole: temporary name, flush, rename.
  result<void> write_file(const std::string& name, std::string_view content);

  /// Appends one whole line and flushes it to the system.
  result<void> append_result(const request_result& result);

  /// Takes the folder away again, with what this object wrote and the folders
  /// that it made above, if it holds no result; else everything stays. For a
  /// run that failed before its first question. Nothing may be written after.
  void discard();

private:
  struct state;
  explicit run_folder(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

/// A fresh default folder name: runs/<name>-<UTC time>-<6 hex digits>.
std::filesystem::path default_run_path(const std::string& name);

} // namespace kvloom::report
