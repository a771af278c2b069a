#include "datasets/shapes/passages.hpp"

#include "datasets/read/text_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace kvloom::datasets {

namespace {

constexpr std::array list_fields{
    "ctxs",     "contexts",   "passages",          "chunks",
    "contents", "documents",  "document",          "texts",
    "context",  "paragraphs", "ordered_kv_records"};
constexpr std::array text_fields{"text", "contents", "content",
                                 "paragraph_text", "passage"};

/// The number that a member's name spells, without leading zeros.
std::optional<std::uint32_t> chunk_number(std::string_view name) {
  if (name.empty() || (name.size() > 1 && name.front() == '0'))
    return std::nullopt;
  std::uint32_t number = 0;
  const auto* end = name.data() + name.size();
  const auto [rest, code] = std::from_chars(name.data(), end, number);
  if (code != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// The first member that says that the row has numbered chunks; null for none.
/// The count and "0" say so whatever they hold, any other number with a
/// passage: an object may also map titles such as "1984" to sentences.
const std::string* numbered_by(const json_value& row) {
  const auto* members = row.as_object();
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(
      members->begin(), members->end(), [](const json_member& member) {
        const auto& [name, value] = member;
        if (name == "0" || name == "chunk_num") return !value.is_null();
        return chunk_number(name)
               && (value.as_text() != nullptr || value.as_object() != nullptr);
      });
  return found == members->end() ? nullptr : &found->name;
}

result<std::string> joined_sentences(const row_context& where,
                                     const std::string& field,
                                     const json_value& value) {
  if (const auto* text = value.as_text()) return *text;
  const auto* list = value.as_list();
  if (list == nullptr)
    return where.wrong_kind(value, field, "a list of sentences");
  std::string all;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto* sentence = (*list)[i].as_text();
    if (sentence == nullptr)
      return where.wrong_kind((*list)[i], fmt::format("{}[{}]", field, i),
                              "a text");
    all += *sentence;
  }
  return all;
}

void keep(passage one, passage_list& out) {
  one.title = stripped(one.title);
  one.text = stripped(one.text);
  if (one.ids.empty() && is_blank(one.title) && is_blank(one.text))
    out.dropped.push_back(one.index);
  else
    out.kept.push_back(std::move(one));
}

result<void> read_object(const row_context& where, const std::string& field,
                         const json_value& value, std::uint32_t index,
                         passage_list& out) {
  passage one;
  one.index = index;
  const json_value* text = nullptr;
  std::string text_field = "text";
  for (const auto* name : text_fields)
    if (const auto* found = value.find_any(name); found && text == nullptr) {
      text = found;
      text_field = name;
    }
  if (text == nullptr) text = value.find_any("sentences");
  if (text == nullptr)
    return where.wrong_kind(value, field + ".text",
                            "a passage with a field \"text\"");
  if (text->as_list() != nullptr) {
    auto joined = joined_sentences(where, field + "." + text_field, *text);
    if (!joined) return pass_on(joined);
    one.text = std::move(*joined);
  } else if (text->as_text() != nullptr) {
    one.text = *text->as_text();
  } else {
    return where.wrong_kind(*text, field + "." + text_field, "a text");
  }
  if (const auto* title = value.find("title")) {
    if (title->as_text() == nullptr)
      return where.wrong_kind(*title, field + ".title", "a text");
    one.title = *title->as_text();
  }
  auto id = read_id(where, value,
                    {"id", "_id", "docid", "doc_id", "pid", "idx", "chunk_id"});
  if (!id) return pass_on(id);
  one.id = std::move(*id);
  for (const auto* name : {"isgold", "is_supporting"})
    if (const auto* flag = value.find(name);
        flag && flag->as_bool() && *flag->as_bool())
      out.marked.push_back(index);
  keep(std::move(one), out);
  return {};
}

/// HotpotQA as its mirror gives it: titles and sentences in parallel lists.
result<void> read_parallel(const row_context& where, const std::string& field,
                           const json_value& value, passage_list& out) {
  const auto* titles = value.find("title");
  const auto* sentences = value.find("sentences");
  const auto* title_list = titles ? titles->as_list() : nullptr;
  const auto* sentence_list = sentences ? sentences->as_list() : nullptr;
  if (title_list == nullptr || sentence_list == nullptr)
    return where.wrong_kind(value, field,
                            "a list of passages, a text, or an object with "
                            "the lists \"title\" and \"sentences\"");
  if (title_list->size() != sentence_list->size())
    return where.refuse(value, field,
                        fmt::format("{} titles and {} lists of sentences; "
                                    "they must be as many",
                                    title_list->size(), sentence_list->size()));
  for (std::size_t i = 0; i < title_list->size(); ++i) {
    passage one;
    one.index = static_cast<std::uint32_t>(i);
    const auto* title = (*title_list)[i].as_text();
    if (title == nullptr)
      return where.wrong_kind((*title_list)[i],
                              fmt::format("{}.title[{}]", field, i), "a text");
    one.title = *title;
    auto text = joined_sentences(
        where, fmt::format("{}.sentences[{}]", field, i), (*sentence_list)[i]);
    if (!text) return pass_on(text);
    one.text = std::move(*text);
    keep(std::move(one), out);
  }
  return {};
}

result<passage_list> read_numbered(const row_context& where,
                                   const json_value& row) {
  std::map<std::uint32_t, const json_value*> chunks; // in the order of numbers
  for (const auto& [name, value] : *row.as_object()) {
    if (const auto number = chunk_number(name))
      chunks[*number] = &value;
    else if (!name.empty()
             && name.find_first_not_of("0123456789") == std::string::npos)
      return where.refuse(value, name,
                          "this is no number of a chunk; write numbers without "
                          "leading zeros, up to 4294967295");
  }
  if (const auto* claimed = row.find("chunk_num")) {
    const auto* number = claimed->as_number();
    if (number == nullptr || number->spelling != std::to_string(chunks.size()))
      return where.refuse(
          *claimed, "chunk_num",
          fmt::format("says {}, and there are {} numbered chunks; correct the "
                      "one or add the others",
                      number != nullptr ? number->spelling : describe(*claimed),
                      chunks.size()));
  }
  passage_list out;
  for (const auto& [number, value] : chunks)
    if (auto done
        = read_passage(where, std::to_string(number), *value, number, out);
        !done)
      return pass_on(done);
  return out;
}

/// Pairs of key and value (Liu et al. 2023) become passages of one line.
result<passage_list> read_pairs(const row_context& where,
                                const json_value& value) {
  passage_list out;
  const auto* list = value.as_list();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* pair = (*list)[i].as_list();
    const auto* key
        = pair && pair->size() == 2 ? (*pair)[0].as_text() : nullptr;
    const auto* held = key != nullptr ? (*pair)[1].as_text() : nullptr;
    if (held == nullptr)
      return where.wrong_kind((*list)[i],
                              fmt::format("ordered_kv_records[{}]", i),
                              "a pair of texts");
    passage one;
    one.index = static_cast<std::uint32_t>(i);
    one.text = fmt::format("\"{}\": \"{}\"", *key, *held);
    keep(std::move(one), out);
  }
  if (list == nullptr)
    return where.wrong_kind(value, "ordered_kv_records", "a list of pairs");
  return out;
}

/// One text; several articles in it are parted as in Multi-News.
passage_list split_document(const std::string& text, const std::string& title) {
  constexpr std::string_view mark = "|||||";
  passage_list out;
  std::string_view rest = text;
  for (std::uint32_t index = 0;; ++index) {
    const auto cut = rest.find(mark);
    passage one;
    one.index = index;
    one.title = title;
    one.text = rest.substr(0, cut);
    if (is_blank(one.text)) one.title.clear();
    keep(std::move(one), out);
    if (cut == std::string_view::npos) break;
    rest.remove_prefix(cut + mark.size());
  }
  return out;
}

result<passage_list> read_field(const row_context& where, const json_value& row,
                                const std::string& field) {
  const auto& value = *row.find(field);
  if (field == "ordered_kv_records") return read_pairs(where, value);
  if (const auto* text = value.as_text()) {
    const auto* title = row.find("title");
    return split_document(*text, title && title->as_text() ? *title->as_text()
                                                           : std::string());
  }
  passage_list out;
  if (const auto* list = value.as_list()) {
    for (std::size_t i = 0; i < list->size(); ++i)
      if (auto done
          = read_passage(where, fmt::format("{}[{}]", field, i), (*list)[i],
                         static_cast<std::uint32_t>(i), out);
          !done)
        return pass_on(done);
    return out;
  }
  if (auto done = read_parallel(where, field, value, out); !done)
    return pass_on(done);
  return out;
}

/// Puts given token ids to the passages, or makes passages of them.
result<void> add_ids(const row_context& where, const json_value& value,
                     bool have_texts, passage_list& out) {
  const auto* list = value.as_list();
  if (list == nullptr)
    return where.wrong_kind(value, "ctx_ids", "a list of lists of token ids");
  if (have_texts && list->size() != out.kept.size() + out.dropped.size())
    return where.refuse(value, "ctx_ids",
                        fmt::format("{} lists of ids and {} passages; they "
                                    "must be as many",
                                    list->size(),
                                    out.kept.size() + out.dropped.size()));
  std::map<std::uint32_t, passage> by_index;
  for (auto& one : out.kept) by_index.emplace(one.index, std::move(one));
  out.kept.clear();
  out.dropped.clear();
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto ids = read_token_ids(where, fmt::format("ctx_ids[{}]", i), (*list)[i]);
    if (!ids) return pass_on(ids);
    auto one = std::move(by_index[static_cast<std::uint32_t>(i)]);
    one.index = static_cast<std::uint32_t>(i);
    one.ids = std::move(*ids);
    // Without ids a text would be tokenised after all: not what was asked for.
    if (one.ids.empty())
      out.dropped.push_back(one.index);
    else
      out.kept.push_back(std::move(one));
  }
  return {};
}

/// One id for two different passages names neither.
result<void> check_ids(const row_context& where, const json_value& row,
                       const passage_list& list) {
  std::unordered_map<std::string_view, const passage*> seen;
  for (const auto& one : list.kept) {
    if (one.id.empty()) continue;
    const auto [at, fresh] = seen.emplace(one.id, &one);
    if (!fresh
        && (at->second->text != one.text || at->second->title != one.title))
      return where.refuse(
          row, "id",
          fmt::format("passages {} and {} differ and have the same id \"{}\"; "
                      "give each its own",
                      at->second->index, one.index, one.id));
  }
  return {};
}

} // namespace

result<std::vector<token_id>> read_token_ids(const row_context& where,
                                             std::string_view field,
                                             const json_value& value) {
  const auto* list = value.as_list();
  if (list == nullptr)
    return where.wrong_kind(value, field, "a list of token ids");
  std::vector<token_id> ids;
  ids.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto* number = (*list)[i].as_number();
    token_id id = -1;
    if (number != nullptr) {
      const auto& spelling = number->spelling;
      const auto* end = spelling.data() + spelling.size();
      const auto [rest, code] = std::from_chars(spelling.data(), end, id);
      if (code != std::errc() || rest != end) id = -1;
    }
    if (id < 0)
      return where.wrong_kind((*list)[i], fmt::format("{}[{}]", field, i),
                              "a token id (an integer from 0 to 2147483647)");
    ids.push_back(id);
  }
  return ids;
}

result<std::string> read_id(const row_context& where, const json_value& object,
                            std::initializer_list<const char*> names) {
  for (const auto* name : names) {
    const auto* value = object.find(name);
    if (value == nullptr) continue;
    if (const auto* text = value->as_text()) {
      if (is_blank(*text)) continue;
      return *text;
    }
    const auto* number = value->as_number();
    if (number == nullptr
        || number->spelling.find_first_of(".eE") != std::string::npos)
      return where.wrong_kind(*value, name, "a text or an integer");
    return number->spelling;
  }
  return std::string();
}

result<void> read_passage(const row_context& where, std::string_view field,
                          const json_value& value, std::uint32_t index,
                          passage_list& out) {
  const std::string name(field);
  if (const auto* text = value.as_text()) {
    passage one;
    one.index = index;
    one.text = *text;
    keep(std::move(one), out);
    return {};
  }
  if (value.as_object() != nullptr)
    return read_object(where, name, value, index, out);
  const auto* pair = value.as_list();
  if (pair != nullptr && pair->size() == 2 && (*pair)[0].as_text() != nullptr
      && (*pair)[1].as_list() != nullptr) {
    passage one;
    one.index = index;
    one.title = *(*pair)[0].as_text();
    auto text = joined_sentences(where, name + "[1]", (*pair)[1]);
    if (!text) return pass_on(text);
    one.text = std::move(*text);
    keep(std::move(one), out);
    return {};
  }
  return where.wrong_kind(value, field,
                          "a text, an object with a \"text\", or a pair of "
                          "title and sentences");
}

bool has_numbered_chunks(const json_value& row) {
  return numbered_by(row) != nullptr;
}

bool has_passages(const json_value& row) {
  return has_numbered_chunks(row) || row.find("ctx_ids") != nullptr
         || std::any_of(list_fields.begin(), list_fields.end(),
                        [&](const char* name) { return row.find(name); });
}

result<passage_list> read_passages(const row_context& where,
                                   const json_value& row) {
  std::vector<std::string> fields;
  for (const auto* name : list_fields)
    if (row.find(name) != nullptr) fields.emplace_back(name);
  const auto* numbered = numbered_by(row);
  if (fields.size() + (numbered != nullptr ? 1U : 0U) > 1)
    return where.refuse(
        row, fields.back(),
        fmt::format("passages are given twice, under \"{}\" too; remove one "
                    "of the two",
                    fields.size() > 1 ? fields.front() : *numbered));
  auto list = numbered != nullptr ? read_numbered(where, row)
              : fields.empty()    ? result<passage_list>()
                                  : read_field(where, row, fields.front());
  if (!list) return list;
  if (const auto* ids = row.find("ctx_ids"))
    if (auto done
        = add_ids(where, *ids, numbered != nullptr || !fields.empty(), *list);
        !done)
      return pass_on(done);
  if (auto done = check_ids(where, row, *list); !done) return pass_on(done);
  return list;
}

result<std::size_t> read_supporting(const row_context& where,
                                    const json_value& row, passage_list& list) {
  std::size_t strays = 0;
  const auto mark = [&](std::string_view title) {
    bool found = false;
    for (const auto& one : list.kept)
      if (one.title == stripped(title)) {
        list.marked.push_back(one.index);
        found = true;
      }
    if (!found) ++strays;
  };
  if (const auto* facts = row.find("supporting_facts")) {
    const auto* titles = facts->find("title");
    const auto* names = titles ? titles->as_list() : facts->as_list();
    if (names == nullptr)
      return where.wrong_kind(*facts, "supporting_facts",
                              "a list of pairs of title and sentence");
    for (const auto& one : *names) {
      const auto* pair = one.as_list();
      const auto* title
          = pair && !pair->empty() ? pair->front().as_text() : one.as_text();
      if (title == nullptr)
        return where.wrong_kind(one, "supporting_facts", "a title");
      mark(*title);
    }
  }
  // A passage that was dropped can't support.
  std::erase_if(list.marked, [&](std::uint32_t index) {
    return std::find(list.dropped.begin(), list.dropped.end(), index)
           != list.dropped.end();
  });
  std::sort(list.marked.begin(), list.marked.end());
  list.marked.erase(std::unique(list.marked.begin(), list.marked.end()),
                    list.marked.end());
  return strays;
}

} // namespace kvloom::datasets
