#include "datasets/shapes/row_reader.hpp"

#include "datasets/read/text_rules.hpp"
#include "datasets/shapes/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kvloom::datasets {

namespace {

constexpr std::array question_fields{"question", "query", "question_ids",
                                     "ordered_kv_records"};

/// A row with its line, for a message about another one.
std::string place_of_row(const row_context& where, const json_value& row) {
  return fmt::format("{} ({})", where.label(), where.source.place(row.at));
}

/// The names of an object's members, for a message about one that is missing.
std::string names_of(const json_value& row) {
  constexpr std::size_t most = 12;
  std::string all;
  std::size_t n = 0;
  for (const auto& [name, value] : *row.as_object()) {
    if (n++ == most) return all + ", ...";
    all += (all.empty() ? "" : ", ") + name;
  }
  return all.empty() ? "none" : all;
}

} // namespace

bool is_collection_row(const json_value& row) {
  if (row.as_text() != nullptr) return true;
  bool has_text = false;
  for (const auto* name : {"text", "contents", "content"})
    if (const auto* value = row.find(name))
      has_text = has_text || value->as_text() != nullptr;
  if (!has_text) return false;
  for (const auto* name : question_fields)
    if (row.find_any(name) != nullptr) return false;
  return row.find("ctxs") == nullptr && row.find("answers") == nullptr
         && row.find("answer") == nullptr;
}

void row_reader::tally::add(const row_context& where, std::uint64_t times) {
  constexpr std::uint64_t most = 5;
  if (n < most) {
    if (!rows.empty()) rows += ", ";
    rows += where.label();
  } else if (!rows.ends_with("...")) {
    rows += ", ...";
  }
  n += times;
}

row_reader::row_reader(dataset& out, const read_options& options)
    : out_(out), options_(options) {}

bool row_reader::wanted(std::size_t row) const {
  const auto offset
      = static_cast<std::size_t>(std::max<std::int64_t>(options_.offset, 0));
  return row >= offset && wants_more();
}

bool row_reader::wants_more() const {
  return options_.limit <= 0
         || out_.questions.size() < static_cast<std::size_t>(options_.limit);
}

result<void> row_reader::add_row(const json_source& source,
                                 const json_value& row) {
  row_context where{source, next_row_, {}};
  if (row.as_object() == nullptr)
    return fail(errc::bad_input,
                fmt::format("{}: found {}, wanted an object with a question; "
                            "correct or remove the row",
                            where.label(), describe(row)),
                source.place(row.at));
  const auto* paragraphs = row.find("paragraphs");
  const auto* list = paragraphs ? paragraphs->as_list() : nullptr;
  if (list != nullptr && !list->empty() && list->front().find("qas") != nullptr)
    return add_article(source, row);
  ++next_row_;
  if (!wanted(where.row)) return {};
  auto id
      = read_id(where, row, {"id", "_id", "sample_id", "qid", "question_id"});
  if (!id) return pass_on(id);
  where.id = std::move(*id);
  auto passages = read_passages(where, row);
  if (!passages) return pass_on(passages);
  auto strays = read_supporting(where, row, *passages);
  if (!strays) return pass_on(strays);
  if (*strays > 0) stray_facts_.add(where, *strays);
  return add_question(where, row, std::move(*passages));
}

result<void> row_reader::add_article(const json_source& source,
                                     const json_value& row) {
  row_context where{source, next_row_, {}};
  std::string title;
  if (const auto* found = row.find("title"))
    if (const auto* text = found->as_text()) title = stripped(*text);
  std::size_t i = 0;
  for (const auto& paragraph : *row.find("paragraphs")->as_list()) {
    const auto field = fmt::format("paragraphs[{}]", i++);
    where.row = next_row_;
    where.id.clear();
    const auto* context = paragraph.find("context");
    const auto* text = context ? context->as_text() : nullptr;
    if (text == nullptr)
      return where.wrong_kind(context ? *context : paragraph,
                              field + ".context", "a text");
    const auto* found = paragraph.find("qas");
    const auto* questions = found ? found->as_list() : nullptr;
    if (questions == nullptr)
      return where.wrong_kind(found ? *found : paragraph, field + ".qas",
                              "a list of questions");
    passage one{0, {}, title, std::string(stripped(*text)), {}};
    passage_list list;
    if (is_blank(one.text))
      list.dropped.push_back(0);
    else
      list.kept.push_back(one);
    if (auto done = keep_collection(where, paragraph, list); !done) return done;
    for (const auto& asked : *questions) {
      where.row = next_row_;
      where.id.clear();
      if (asked.as_object() == nullptr)
        return where.wrong_kind(asked, field + ".qas",
                                "an object with a question");
      ++next_row_;
      if (!wanted(where.row)) continue;
      auto id = read_id(where, asked, {"id"});
      if (!id) return pass_on(id);
      where.id = std::move(*id);
      auto own = list;
      if (!own.kept.empty()) own.marked = {0};
      if (auto done = add_question(where, asked, std::move(own)); !done)
        return done;
    }
  }
  return {};
}

result<void> row_reader::read_wording(const row_context& where,
                                      const json_value& row, question& out) {
  if (const auto* ids = row.find("question_ids")) {
    auto read = read_token_ids(where, "question_ids", *ids);
    if (!read) return pass_on(read);
    if (read->empty())
      return where.wrong_kind(*ids, "question_ids", "at least one token id");
    out.question_ids = std::move(*read);
  }
  if (const auto* ids = row.find("prefix_ids")) {
    auto read = read_token_ids(where, "prefix_ids", *ids);
    if (!read) return pass_on(read);
    out.prefix_ids = std::move(*read);
  }
  const auto* records = row.find("ordered_kv_records");
  const auto* key = records ? row.find("key") : nullptr;
  if (key != nullptr && key->as_text() != nullptr) {
    out.text
        = fmt::format("What is the value of the key \"{}\"?", *key->as_text());
    return {};
  }
  const json_value* found = nullptr;
  const char* field = "question";
  for (const auto* name : {"query", "question"})
    if (const auto* value = row.find_any(name)) {
      found = value;
      field = name;
    }
  const bool may_lack = !out.question_ids.empty();
  if (found == nullptr || found->is_null()) {
    if (may_lack) return {};
    if (found == nullptr && row.find("reference_summary") != nullptr) {
      out.text = summary_question;
      summaries_.add(where);
      return {};
    }
    return where.refuse(found ? *found : row, field,
                        found != nullptr
                            ? "found null, wanted a text; correct or remove "
                              "the row"
                            : fmt::format("it is missing (there are: {}); add "
                                          "it or remove the row",
                                          names_of(row)));
  }
  if (found->as_text() == nullptr)
    return where.wrong_kind(*found, field, "a text");
  out.text = stripped(*found->as_text());
  if (is_blank(out.text) && !may_lack)
    return where.refuse(*found, field,
                        "the text is blank; write a question or remove the "
                        "row");
  return {};
}

result<void> row_reader::add_question(row_context& where, const json_value& row,
                                      passage_list list) {
  question one;
  one.row = where.row;
  if (auto done = read_wording(where, row, one); !done) return done;
  auto golds = read_answers(where, row);
  if (!golds) return pass_on(golds);
  one.golds = std::move(*golds);
  if (row.find("ordered_kv_records") != nullptr)
    if (const auto* value = row.find("value"); value && value->as_text())
      one.golds = {*value->as_text()};
  one.id = where.id.empty() ? fmt::format("row-{}", where.row) : where.id;
  const auto [at, fresh] = ids_.emplace(one.id, place_of_row(where, row));
  if (!fresh)
    return where.refuse(
        row, "id",
        fmt::format("\"{}\" is the id of {} too; results are told apart by "
                    "it, give each row its own",
                    one.id, at->second));
  if (where.id.empty()) numbered_.add(where);
  // Nothing can be scored against blank ones.
  if (std::all_of(one.golds.begin(), one.golds.end(),
                  [](const auto& gold) { return is_blank(gold); }))
    unanswered_.add(where);
  if (list.kept.empty()) bare_.add(where);
  if (!list.dropped.empty()) blank_.add(where, list.dropped.size());
  out_.dropped_passages += list.dropped.size();
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& passage : list.kept)
    if (passage.ids.empty()
        && !seen.emplace(passage.title, passage.text).second) {
      twice_.add(where);
      break;
    }
  one.passages = std::move(list.kept);
  one.dropped_passages = std::move(list.dropped);
  one.supporting = std::move(list.marked);
  out_.questions.push_back(std::move(one));
  return {};
}

result<void> row_reader::keep_collection(const row_context& where,
                                         const json_value& row,
                                         passage_list list) {
  const auto index = next_passage_++;
  if (!list.dropped.empty()) {
    ++out_.dropped_passages;
    blank_.add(where);
  }
  for (auto& one : list.kept) {
    one.index = index;
    if (!one.id.empty()) {
      const auto [at, fresh]
          = passage_ids_.emplace(one.id, place_of_row(where, row));
      if (!fresh)
        return where.refuse(row, "id",
                            fmt::format("\"{}\" is the id of {} too; give each "
                                        "passage its own",
                                        one.id, at->second));
    }
    out_.collection.push_back(std::move(one));
  }
  return {};
}

result<void> row_reader::add_passage(const json_source& source,
                                     const json_value& row) {
  const row_context where{source, next_passage_, {}};
  passage_list list;
  if (auto done = read_passage(where, "text", row, next_passage_, list); !done)
    return done;
  return keep_collection(where, row, std::move(list));
}

result<void> row_reader::add_titled(const json_source& source,
                                    const std::string& title,
                                    const json_value& sentences) {
  const row_context where{source, next_passage_, title};
  json_value pair;
  pair.at = sentences.at;
  json_value name;
  name.value = title;
  name.at = sentences.at;
  json_list members;
  members.push_back(std::move(name));
  members.push_back(sentences);
  pair.value = std::move(members);
  passage_list list;
  if (auto done = read_passage(where, title, pair, next_passage_, list); !done)
    return done;
  return keep_collection(where, sentences, std::move(list));
}

void row_reader::finish() {
  const auto note = [&](const tally& what, std::string_view text) {
    if (what.n > 0)
      out_.notes.push_back(fmt::format("{} {}: {}", what.n, text, what.rows));
  };
  note(blank_, "blank passages were dropped");
  note(bare_, "questions have no passages");
  note(unanswered_, "questions have no answers and will not be scored");
  note(twice_, "questions have the same passage more than once");
  note(stray_facts_, "supporting facts name no passage");
  note(summaries_,
       fmt::format("rows have no question and ask \"{}\"", summary_question));
  if (numbered_.n > 0)
    out_.notes.push_back(fmt::format(
        "{} questions have no id and are called row-N", numbered_.n));
}

} // namespace kvloom::datasets
