#include "datasets/dataset.hpp"

#include "datasets/read/file_bytes.hpp"
#include "datasets/read/json_value.hpp"
#include "datasets/read/text_rules.hpp"
#include "datasets/shapes/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kvloom::datasets {

namespace {

/// What the file is instead, where its first bytes tell.
std::optional<std::string> foreign_kind(std::string_view text) {
  struct mark {
    std::string_view bytes;
    const char* kind;
  };
  constexpr std::array marks{
      mark{"version https://git-lfs", "a Git LFS pointer; fetch the file that "
                                      "it stands for"},
      mark{"PK\x03\x04", "a zip archive; unpack it first"},
      mark{"PAR1", "a Parquet file; convert it to JSON lines first"},
      mark{"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"},
      mark{"BZh", "compressed with bzip2; unpack it first"},
      mark{"\xfd"
           "7zXZ",
           "compressed with xz; unpack it first"},
      mark{"\xff\xfe", "UTF-16; convert it to UTF-8 first"},
      mark{"\xfe\xff", "UTF-16; convert it to UTF-8 first"},
      mark{"<", "HTML or XML; was a web page saved in place of the data?"},
  };
  for (const auto& one : marks)
    if (text.starts_with(one.bytes)) return one.kind;
  return std::nullopt;
}

/// Rows of a list: questions, or passages of a collection; the first decides.
result<void> read_list(const json_source& source, const json_value& list,
                       row_reader& rows, std::string& shape) {
  const auto& items = *list.as_list();
  const bool collection = !items.empty() && is_collection_row(items.front());
  shape += collection ? " of passages" : " of questions";
  for (const auto& row : items) {
    auto done = collection ? rows.add_passage(source, row)
                           : rows.add_row(source, row);
    if (!done) return done;
  }
  return {};
}

/// True for an object whose members are all lists of texts.
bool maps_titles(const json_value& object) {
  const auto& members = *object.as_object();
  return !members.empty()
         && std::all_of(members.begin(), members.end(), [](const auto& member) {
              const auto* list = member.value.as_list();
              return list != nullptr
                     && std::all_of(list->begin(), list->end(),
                                    [](const json_value& one) {
                                      return one.as_text() != nullptr;
                                    });
            });
}

result<void> read_object(const json_source& source, const json_value& object,
                         row_reader& rows, std::string& shape) {
  const bool asks = object.find_any("question") != nullptr
                    || object.find_any("query") != nullptr
                    || object.find_any("question_ids") != nullptr;
  std::vector<const char*> lists;
  if (!asks)
    for (const auto* name : {"samples", "results", "data"})
      if (const auto* value = object.find(name);
          value != nullptr && value->as_list() != nullptr)
        lists.push_back(name);
  if (lists.size() > 1)
    return fail(errc::bad_input,
                fmt::format("the object has the lists \"{}\" and \"{}\", and "
                            "either may be the data; keep one",
                            lists[0], lists[1]),
                source.place(object.at));
  if (!lists.empty()) {
    shape = fmt::format("list under \"{}\"", lists.front());
    return read_list(source, *object.find(lists.front()), rows, shape);
  }
  const auto* chunks = object.find("chunks");
  if (!asks && chunks != nullptr && chunks->as_list() != nullptr) {
    shape = "list under \"chunks\" of passages";
    for (const auto& row : *chunks->as_list())
      if (auto done = rows.add_passage(source, row); !done) return done;
    return {};
  }
  if (asks || has_passages(object)) {
    shape = has_numbered_chunks(object) ? "one question with numbered chunks"
                                        : "one question";
    return rows.add_row(source, object);
  }
  if (maps_titles(object)) {
    shape = "object from titles to sentences";
    for (const auto& [title, sentences] : *object.as_object())
      if (auto done = rows.add_titled(source, title, sentences); !done)
        return done;
    return {};
  }
  // The row's own message says which field is missing.
  shape = "one question";
  return rows.add_row(source, object);
}

/// One value a line; blank lines are none.
result<void> read_lines(const json_source& source, row_reader& rows,
                        std::string& shape) {
  auto rest = source.text;
  std::size_t number = source.first_line;
  std::optional<bool> collection;
  for (; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_blank(line)) continue;
    const json_source here{source.path, line, number};
    auto row = parse_json(here);
    if (!row) return pass_on(row);
    if (!collection) {
      collection = is_collection_row(*row);
      shape
          = *collection ? "JSON lines of passages" : "JSON lines of questions";
    }
    auto done
        = *collection ? rows.add_passage(here, *row) : rows.add_row(here, *row);
    if (!done) return done;
    if (!*collection && !rows.wants_more()) break;
  }
  return {};
}

/// JSON lines begin with a line that is an object by itself and have more.
bool is_lines(const json_source& source) {
  auto text = source.text;
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return false;
  text.remove_prefix(start);
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return false;
  if (is_blank(text.substr(end))) return false;
  return parse_json({source.path, text.substr(0, end), 1}).has_value();
}

} // namespace

result<dataset> read_dataset(const std::filesystem::path& path,
                             const read_options& options) {
  auto bytes = read_file_bytes(path, options.max_bytes);
  if (!bytes) return pass_on(bytes);
  dataset out;
  out.path = path;
  out.whole = options.limit <= 0 && options.offset <= 0;
  out.sha256 = std::move(bytes->sha256);
  json_source source{path.string(), bytes->text, 1};
  if (source.text.starts_with("\xef\xbb\xbf")) source.text.remove_prefix(3);
  if (is_blank(source.text) && foreign_kind(source.text) == std::nullopt)
    return fail(errc::bad_input,
                "the file is empty; it must hold questions as JSON or JSON "
                "lines",
                source.path);
  row_reader rows(out, options);
  result<void> done;
  if (is_lines(source)) {
    done = read_lines(source, rows, out.shape);
  } else {
    auto root = parse_json(source);
    if (!root) {
      if (const auto kind = foreign_kind(source.text))
        return fail(errc::bad_input, "this is no JSON but " + *kind,
                    source.path);
      return pass_on(root);
    }
    if (root->as_list() != nullptr) {
      out.shape = "list";
      done = read_list(source, *root, rows, out.shape);
    } else if (root->as_object() != nullptr) {
      done = read_object(source, *root, rows, out.shape);
    } else {
      return fail(errc::bad_input,
                  fmt::format("found {}, wanted a list of questions, an object "
                              "with samples, results or data, or JSON lines",
                              describe(*root)),
                  source.place(root->at));
    }
  }
  if (!done) return pass_on(done);
  if (bytes->gzip) out.shape += ", gzip";
  rows.finish();
  return out;
}

} // namespace kvloom::datasets
