#include "tests/graphs/support/files.hpp"

#include "tests/graphs/support/kinds.hpp"

#include <unistd.h>

#include <fstream>
#include <utility>

namespace kvloom::graphs {

const std::string sound_graph = R"(schema: kvloom/graph/1
name: small
model: {path: m.gguf}
actors:
  questions: {type: question_source, params: {path: data.json}}
  retriever: {type: retriever, params: {top_k: 2}}
  prefiller: {type: prefiller}
  decoder: {type: decoder, params: {max_new_tokens: 6}}
  results: {type: recorder}
edges:
  - {from: questions.question, to: retriever.question, credit: 8}
  - {from: retriever.retrieved, to: prefiller.request}
  - {from: prefiller.prefilled, to: decoder.request}
  - {from: decoder.answer, to: results.answer}
)";

std::string changed(std::string text, const std::string& from,
                    const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void run_files::SetUp() {
  folder_ = std::filesystem::path(testing::TempDir())
            / ("kvloom_graphs_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder_);
}

void run_files::TearDown() {
  std::filesystem::remove_all(folder_);
}

void run_files::write(const std::string& name, const std::string& text) {
  const auto path = folder_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

tl::expected<run_plan, configs::diagnostics>
run_files::load(const std::string& name, std::vector<std::string> set,
                std::map<std::string, std::string> environment) const {
  return load_run({folder_ / name, std::move(set), std::move(environment)},
                  test_kinds());
}

std::string
run_files::problems(const std::string& name, std::vector<std::string> set,
                    std::map<std::string, std::string> environment) const {
  const auto plan = load(name, std::move(set), std::move(environment));
  std::string out;
  if (plan) return out;
  const std::string front = folder_.string() + '/';
  for (const configs::diagnostic& one : plan.error()) {
    std::string line = to_string(one);
    for (std::size_t at = line.find(front); at != std::string::npos;
         at = line.find(front))
      line.erase(at, front.size());
    out += line + '\n';
  }
  return out;
}

std::string run_files::graph_problems(const std::string& text) {
  write("g.yaml", text);
  return problems("g.yaml");
}

} // namespace kvloom::graphs
