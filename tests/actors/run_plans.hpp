// Plans and data for tests, made in memory.
#pragma once

#include "actors/wiring/registry.hpp"
#include "datasets/dataset.hpp"
#include "graphs/check/load_run.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::test {

/// `n` questions `q0`, `q1`, ... with `passages` passages each.
std::shared_ptr<datasets::dataset> some_questions(std::size_t n,
                                                  std::size_t passages = 2);

/// A planned request, as if emitted `now`.
actors::request_ptr a_request(const std::shared_ptr<datasets::dataset>& data,
                              std::size_t place,
                              std::int64_t deadline_ns = 60'000'000'000);

/// Parameter values by `node.param`; what is absent has its default.
using values = std::map<std::string, configs::param_value>;

/// A graph from nodes (name, kind) in a chain: every node's first output goes
/// to the first input of the next.
graphs::run_plan
chain(const actors::node_registry& nodes,
      const std::vector<std::pair<std::string, std::string>>& members,
      const values& set = {}, std::int64_t credit = 4);

/// question_source, retriever, prefiller, decoder, recorder under the names
/// questions, retriever, prefiller, decoder, results.
graphs::run_plan usual_chain(const actors::node_registry& nodes,
                             const values& set, std::int64_t credit = 4);

/// A source that asks questions that exist in memory: the kind
/// `questions_in_memory`, otherwise like question_source without `path`.
actors::node_type memory_source(std::shared_ptr<const datasets::dataset> data);

/// A folder that goes away with the object.
class scratch_folder {
public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

/// The lines of a file.
std::vector<std::string> lines_of(const std::filesystem::path& path);

} // namespace kvloom::test
