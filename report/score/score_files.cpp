#include "report/score/score_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace kvloom::report {

namespace {

using nlohmann::json;

std::string line_place(const std::filesystem::path& file, std::size_t line) {
  return fmt::format("{}:{}", file.string(), line);
}

/// Calls `take` with every object of the file that is no blank line.
result<void> each_line(
    const std::filesystem::path& file,
    const std::function<result<void>(const json&, const std::string& place)>&
        take) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    return fail(errc::environment,
                fmt::format("cannot be read ({}); name a file of JSON lines",
                            std::strerror(in ? EISDIR : errno)),
                file.string());
  }
  std::string text;
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    if (line == 1 && text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto place = line_place(file, line);
    const auto row = json::parse(text, nullptr, false);
    if (!row.is_object()) {
      return fail(errc::bad_input,
                  "is not a JSON object; every line must be one, such as "
                  "{\"id\": \"q1\", \"answer\": \"...\"}",
                  place);
    }
    auto taken = take(row, place);
    if (!taken) return taken;
  }
  if (in.bad()) {
    return fail(errc::environment, "could not be read to its end",
                file.string());
  }
  return {};
}

result<std::string> id_of(const json& row, const std::string& place) {
  const auto id = row.find("id");
  if (id != row.end() && id->is_string()) return id->get<std::string>();
  if (id != row.end() && id->is_number_integer()) return id->dump();
  return fail(errc::bad_input, "has no `id`; wanted a string or a whole number",
              place);
}

bool add_golds(const json& value, std::vector<std::string>& to,
               int levels = 8) {
  if (value.is_string()) {
    to.push_back(value.get<std::string>());
    return true;
  }
  if (value.is_number()) {
    to.push_back(value.dump());
    return true;
  }
  return levels > 0 && value.is_array()
         && std::all_of(value.begin(), value.end(), [&](const json& one) {
              return add_golds(one, to, levels - 1);
            });
}

using gold_map = std::map<std::string, std::vector<std::string>>;

result<gold_map> read_golds(const std::filesystem::path& file) {
  gold_map golds;
  auto read = each_line(
      file, [&](const json& row, const std::string& place) -> result<void> {
        auto id = id_of(row, place);
        if (!id) return pass_on(id);
        const auto* name = row.contains("golds")     ? "golds"
                           : row.contains("answers") ? "answers"
                                                     : "answer";
        std::vector<std::string> values;
        if (!row.contains(name) || !add_golds(row[name], values)) {
          return fail(errc::bad_input,
                      "has no `golds`; wanted a string, a number or a list "
                      "of such",
                      place);
        }
        // A results.jsonl names the golds of a question in every repeat.
        const auto [at, fresh] = golds.emplace(*id, values);
        if (!fresh && at->second != values) {
          return fail(errc::bad_input,
                      fmt::format("id \"{}\" comes twice with different golds; "
                                  "remove one",
                                  *id),
                      place);
        }
        return {};
      });
  if (!read) return pass_on(read);
  return golds;
}

bool is_true(const json& row, const char* name) {
  const auto at = row.find(name);
  return at != row.end() && at->is_boolean() && at->get<bool>();
}

std::string mean_text(const sample_statistics& of) {
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", of.mean, of.mean_low,
                     of.mean_high);
}

json mean_json(const sample_statistics& of) {
  return {{"n", of.n},
          {"mean", of.mean},
          {"mean_ci95", {of.mean_low, of.mean_high}}};
}

} // namespace

result<file_scores> score_files(const std::filesystem::path& predictions,
                                const std::filesystem::path& golds,
                                answer_cleaning cleaning) {
  auto wanted = read_golds(golds);
  if (!wanted) return pass_on(wanted);
  file_scores out;
  std::set<std::pair<std::string, std::string>> seen; // id, repeat
  std::set<std::string> answered;
  auto read = each_line(
      predictions,
      [&](const json& row, const std::string& place) -> result<void> {
        auto id = id_of(row, place);
        if (!id) return pass_on(id);
        if (is_true(row, "warmup")) {
          ++out.warmups;
          return {};
        }
        const auto repeat = row.value("point", json(0)).dump() + "/"
                            + row.value("repeat", json(0)).dump();
        if (!seen.emplace(*id, repeat).second) {
          return fail(errc::bad_input,
                      fmt::format("id \"{}\" comes twice; remove one", *id),
                      place);
        }
        answered.insert(*id);
        if (row.contains("status") && row["status"] == "failed") {
          ++out.failed;
          return {};
        }
        const auto answer = row.find("answer");
        if (answer == row.end() || !answer->is_string()) {
          return fail(errc::bad_input, "has no `answer`; wanted a string",
                      place);
        }
        const auto gold = wanted->find(*id);
        if (gold == wanted->end()) {
          out.without_gold.push_back(*id);
          return {};
        }
        out.each.push_back(
            {*id,
             score_answer(clean_answer(answer->get<std::string>(), cleaning),
                          gold->second)});
        return {};
      });
  if (!read) return pass_on(read);
  for (const auto& [id, unused] : *wanted) {
    if (!answered.contains(id)) out.unanswered.push_back(id);
  }
  sample em, f1, rouge_l;
  std::map<std::string, std::size_t> questions; // repeats have one id
  for (const auto& one : out.each) {
    out.unusable_golds += one.scores.unusable_golds;
    if (!one.scores.scored) continue;
    const auto question
        = questions.emplace(one.id, questions.size()).first->second;
    em.add(one.scores.em, question);
    f1.add(one.scores.f1, question);
    rouge_l.add(one.scores.rouge_l, question);
  }
  out.em = describe(em);
  out.f1 = describe(f1);
  out.rouge_l = describe(rouge_l);
  return out;
}

std::string file_scores::to_json() const {
  json rows = json::array();
  for (const auto& one : each) {
    if (!one.scores.scored) continue;
    rows.push_back({{"id", one.id},
                    {"em", one.scores.em},
                    {"f1", one.scores.f1},
                    {"rouge_l", one.scores.rouge_l}});
  }
  const json out{{"schema", "kvloom/scores/1"},
                 {"em", mean_json(em)},
                 {"f1", mean_json(f1)},
                 {"rouge_l", mean_json(rouge_l)},
                 {"rouge_l_variant", "sentence level, Porter stemmer (NLTK)"},
                 {"failed", failed},
                 {"warmups", warmups},
                 {"without_gold", without_gold},
                 {"unanswered", unanswered},
                 {"unusable_golds", unusable_golds},
                 {"scores", rows}};
  return out.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string file_scores::table() const {
  auto out
      = fmt::format("{} answers scored; mean [95 % interval]\n"
                    "EM       {}\n"
                    "F1       {}\n"
                    "ROUGE-L  {}  (sentence level, Porter stemmer)\n",
                    em.n, mean_text(em), mean_text(f1), mean_text(rouge_l));
  if (failed > 0) out += fmt::format("{} failed requests not scored\n", failed);
  if (!without_gold.empty()) {
    out += fmt::format("{} answers without gold, the first \"{}\"\n",
                       without_gold.size(), without_gold.front());
  }
  if (!unanswered.empty()) {
    out += fmt::format("{} golds without answer, the first \"{}\"\n",
                       unanswered.size(), unanswered.front());
  }
  if (unusable_golds > 0) {
    out += fmt::format("{} golds left out: nothing but white space\n",
                       unusable_golds);
  }
  return out;
}

} // namespace kvloom::report
