#include "configs/read/yaml_reader.hpp"

#include "configs/schema/quote.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kvloom::configs {

namespace {

constexpr std::size_t most_bytes = 4U << 20;
constexpr std::size_t most_nodes = 100000;
constexpr std::size_t most_levels = 64;

/// Ends the parse from inside an event; caught in read_yaml().
struct stop_parse : std::runtime_error {
  stop_parse(source_place where, const std::string& message)
      : std::runtime_error(message), place(std::move(where)) {}
  source_place place;
};

/// Places in the text: lines and columns from 1, columns in characters (the
/// parser counts bytes).
class place_finder {
public:
  place_finder(std::string_view text, std::string file)
      : text_(text), file_(std::move(file)) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
  }

  source_place at(int line, int column) const {
    const auto n_lines = static_cast<int>(starts_.size());
    line = std::clamp(line, 0, n_lines - 1);
    const std::size_t start = starts_[static_cast<std::size_t>(line)];
    const std::size_t end = offset_of(line, column);
    const auto characters = std::count_if(
        text_.begin() + static_cast<std::ptrdiff_t>(start),
        text_.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
          return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
        });
    return {file_, line + 1, static_cast<int>(characters) + 1};
  }

  source_place at(const YAML::Mark& mark) const {
    return at(mark.line, mark.column);
  }

  /// True if a node written at the mark begins with a tag, behind its anchor
  /// if it has one.
  bool begins_with_tag(const YAML::Mark& mark) const {
    std::size_t i = offset_of(mark.line, mark.column);
    if (i < text_.size() && text_[i] == '&') {
      i = std::min(text_.find_first_of(" \t\r\n", i), text_.size());
      i = std::min(text_.find_first_not_of(" \t\r\n", i), text_.size());
    }
    return i < text_.size() && text_[i] == '!';
  }

  source_place at_byte(std::size_t offset) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = next - starts_.begin() - 1;
    const auto column = offset - starts_[static_cast<std::size_t>(line)];
    return at(static_cast<int>(line), static_cast<int>(column));
  }

private:
  std::size_t offset_of(int line, int column) const {
    const auto n_lines = static_cast<int>(starts_.size());
    line = std::clamp(line, 0, n_lines - 1);
    const std::size_t start = starts_[static_cast<std::size_t>(line)];
    return std::min(text_.size(),
                    start + static_cast<std::size_t>(std::max(column, 0)));
  }

  std::string_view text_;
  std::string file_;
  std::vector<std::size_t> starts_;
};

/// Builds the tree from the parser's events.
class tree_builder : public YAML::EventHandler {
public:
  tree_builder(const place_finder& places, diagnostics& problems)
      : places_(places), problems_(problems) {}

  yaml_ptr root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    document_place_ = places_.at(mark);
    has_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    yaml_node node;
    node.place = places_.at(mark);
    finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw stop_parse(places_.at(mark),
                       "this alias stands inside the node that it names; "
                       "write the value out");
    add(found->second, places_.at(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    refuse_tag(mark, tag);
    yaml_node node;
    node.kind = yaml_kind::scalar;
    node.place = places_.at(mark);
    node.text = value;
    node.quoted = tag == "!";
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(yaml_kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(yaml_kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  bool has_document() const { return has_document_; }
  const source_place& document_place() const { return document_place_; }

private:
  struct level {
    yaml_node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    bool key_usable = false;
    std::string key;
    source_place key_place;
    std::map<std::string, source_place> keys;
  };

  /// Where the parser stands: actors.retriever.params, edges[2].
  std::string key_path() const {
    std::string out;
    for (const level& one : levels_) {
      if (one.node.kind == yaml_kind::sequence)
        out += '[' + std::to_string(one.node.items.size()) + ']';
      else if (one.has_key)
        out += (out.empty() ? "" : ".") + one.key;
    }
    return out;
  }

  /// The parser gives quoted scalars the tag `!` too; the text tells.
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?") return;
    if (tag == "!" && !places_.begins_with_tag(mark)) return;
    problems_.push_back(
        {places_.at(mark), key_path(),
         "the tag " + shown(tag)
             + " is not used here: types come from the declared parameters; "
               "remove it"});
  }

  void open(yaml_kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_tag(mark, tag);
    if (levels_.size() == most_levels)
      throw stop_parse(places_.at(mark), "nested deeper than "
                                             + std::to_string(most_levels)
                                             + " levels; flatten the file");
    level next;
    next.node.kind = kind;
    next.node.place = places_.at(mark);
    next.anchor = anchor;
    levels_.push_back(std::move(next));
  }

  void close() {
    level done = std::move(levels_.back());
    levels_.pop_back();
    finish(std::move(done.node), done.anchor);
  }

  void finish(yaml_node node, YAML::anchor_t anchor) {
    source_place place = node.place;
    auto made = std::make_shared<const yaml_node>(std::move(node));
    if (anchor != 0) anchors_[anchor] = made;
    add(made, place);
  }

  void add(const yaml_ptr& node, const source_place& place) {
    if (levels_.empty()) {
      root_ = node;
      return;
    }
    level& top = levels_.back();
    if (top.node.kind == yaml_kind::mapping && !top.has_key) {
      take_key(top, *node, place);
      return;
    }
    top.node.weight += node->weight;
    if (top.node.weight > most_nodes)
      throw stop_parse(place, "more than " + std::to_string(most_nodes)
                                  + " values, aliases unfolded; use fewer "
                                    "aliases or a smaller file");
    if (top.node.kind == yaml_kind::sequence) {
      top.node.items.push_back(node);
      return;
    }
    top.has_key = false;
    if (!top.key_usable) return;
    yaml_ptr value = node;
    if (node->kind == yaml_kind::null) {
      // The parser places an empty value behind the line break.
      auto moved = std::make_shared<yaml_node>(*node);
      moved->place = top.key_place;
      value = moved;
    }
    top.node.entries.push_back({top.key, top.key_place, value});
  }

  void take_key(level& top, const yaml_node& node, const source_place& place) {
    const std::string path = key_path();
    top.has_key = true;
    top.key_usable = false;
    top.key_place = place;
    top.key = node.text;
    if (node.kind != yaml_kind::scalar) {
      problems_.push_back({place, path,
                           "a key must be a text, found " + describe(node)
                               + "; put it in quotes"});
      return;
    }
    if (node.text == "<<" && !node.quoted) {
      problems_.push_back({place, path,
                           "merge keys (`<<`) are not supported; repeat the "
                           "keys, or name a whole value by an alias"});
      return;
    }
    const auto [first, fresh] = top.keys.emplace(node.text, place);
    if (!fresh) {
      problems_.push_back({place, path,
                           "duplicate key " + shown(node.text)
                               + ", first given at " + to_string(first->second)
                               + "; keep one of them"});
      return;
    }
    top.key_usable = true;
  }

  const place_finder& places_;
  diagnostics& problems_;
  std::vector<level> levels_;
  std::map<YAML::anchor_t, yaml_ptr> anchors_;
  yaml_ptr root_;
  bool has_document_ = false;
  source_place document_place_;
};

/// The parser's words, with a remedy where one is known.
std::string parse_message(const std::string& what) {
  std::string out = "not valid YAML: " + what;
  if (what.find("tab") != std::string::npos)
    return out + "; indent with spaces";
  if (what.find("end of map flow") != std::string::npos)
    return out + "; a `{` lacks its `}`";
  if (what.find("end of sequence flow") != std::string::npos)
    return out + "; a `[` lacks its `]`";
  if (what.find("illegal map value") != std::string::npos)
    return out + "; put a value that holds `: ` in quotes";
  if (what.find("EOF in scalar") != std::string::npos)
    return out + "; a quote is not closed";
  return out + "; check indentation, quotes and brackets near this place";
}

/// Bytes that no configuration file should hold.
bool check_bytes(std::string_view text, const place_finder& places,
                 diagnostics& problems) {
  if (text.substr(0, 2) == "\xff\xfe" || text.substr(0, 2) == "\xfe\xff") {
    problems.push_back({places.at(0, 0),
                        {},
                        "UTF-16 text (byte order mark found), wanted UTF-8; "
                        "save the file as UTF-8"});
    return false;
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      problems.push_back({places.at_byte(i),
                          {},
                          "not UTF-8: found the byte "
                              + shown(text.substr(i, 1))
                              + "; save the file as UTF-8"});
      return false;
    }
    const bool allowed = byte == '\t' || byte == '\n' || byte == '\r';
    if ((byte < 0x20 && !allowed) || byte == 0x7f) {
      problems.push_back({places.at_byte(i),
                          {},
                          "control character " + shown(text.substr(i, 1))
                              + " found; remove it, or write it as an escape "
                                "in double quotes"});
      return false;
    }
    i += length;
  }
  return true;
}

void parse(std::string_view text, const place_finder& places,
           yaml_document& document) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  tree_builder builder(places, document.problems);
  parser.HandleNextDocument(builder);
  document.root = builder.root();
  diagnostics ignored;
  tree_builder second(places, ignored);
  if (document.root && parser.HandleNextDocument(second)
      && second.has_document())
    document.problems.push_back(
        {second.document_place(),
         {},
         "a second document begins here, wanted one a file; remove the `---` "
         "or split the file"});
}

} // namespace

const yaml_entry* yaml_node::find(const std::string& key) const {
  for (const yaml_entry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::string describe(const yaml_node& node) {
  switch (node.kind) {
  case yaml_kind::null:
    return "nothing (null)";
  case yaml_kind::sequence:
    return "a list";
  case yaml_kind::mapping:
    return "a mapping";
  case yaml_kind::scalar:
    break;
  }
  return (node.quoted ? "the quoted text " : "") + shown(node.text);
}

yaml_document read_yaml(std::string_view text, const std::string& file) {
  yaml_document document;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == byte_order_mark) text.remove_prefix(3);
  const place_finder places(text, file);
  if (text.size() > most_bytes) {
    document.problems.push_back(
        {whole(file),
         {},
         "larger than " + std::to_string(most_bytes >> 20)
             + " MiB, which no configuration is; is this the right file?"});
    return document;
  }
  if (!check_bytes(text, places, document.problems)) return document;
  try {
    parse(text, places, document);
  } catch (const stop_parse& stopped) {
    document.root = nullptr;
    document.problems.push_back({stopped.place, {}, stopped.what()});
  } catch (const YAML::Exception& broken) {
    document.root = nullptr;
    document.problems.push_back(
        {places.at(broken.mark), {}, parse_message(broken.msg)});
  } catch (const std::exception& broken) {
    document.root = nullptr;
    document.problems.push_back(
        {whole(file), {}, parse_message(broken.what())});
  }
  if (!document.root && document.problems.empty())
    document.problems.push_back(
        {whole(file), {}, "the file is empty, wanted a YAML mapping"});
  return document;
}

yaml_document read_yaml_file(const std::filesystem::path& path) {
  yaml_document document;
  const std::string file = path.string();
  const auto refuse = [&](const std::string& message) {
    document.problems.push_back({whole(file), {}, message});
    return document;
  };
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    return refuse("no such file; check the name and the folder");
  if (std::filesystem::is_directory(status))
    return refuse("is a folder, wanted a YAML file");
  // A pipe without a writer would hang, a device never end.
  if (!std::filesystem::is_regular_file(status))
    return refuse("is no regular file; save the YAML in a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return refuse("can't be opened; check its permissions");
  std::string text(most_bytes + 4, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return refuse("reading failed");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return read_yaml(text, file);
}

} // namespace kvloom::configs
