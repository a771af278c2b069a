#include "engine/tokenizer/regex_dialect.hpp"

#include "engine/tokenizer/unicode_tables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace kvloom::engine {

namespace {

constexpr std::string_view space_class = R"(\p{White_Space})";
constexpr std::string_view hex_class = "0-9a-fA-F";

/// Properties that are no scripts; PCRE2 knows them by the same names.
constexpr std::array<std::string_view, 13> plain_properties = {
    "Any",       "Alphabetic",  "Uppercase",         "Lowercase", "White_Space",
    "Emoji",     "Ideographic", "Join_Control",      "Math",      "Dash",
    "Diacritic", "Extender",    "Emoji_Presentation"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7>
    long_categories = {{{"Letter", "L"},
                        {"Mark", "M"},
                        {"Number", "N"},
                        {"Punctuation", "P"},
                        {"Symbol", "S"},
                        {"Separator", "Z"},
                        {"Other", "C"}}};

std::string news_of(std::string_view category) {
  std::string out;
  for (const auto& news : category_news_table())
    if (news.category.substr(0, category.size()) == category)
      out += news.members;
  return out;
}

std::string script_news(std::string_view script) {
  for (const auto& news : script_news_table())
    if (news.category == script) return std::string(news.members);
  return {};
}

std::string digit_class() {
  return R"(\p{Nd})" + news_of("Nd");
}

/// Word characters; the Latin-1 superscripts and fractions are words only in
/// the files' dialect.
std::string word_class() {
  return R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})"
         + news_of("L") + news_of("M") + news_of("Nd");
}

class translator {
public:
  explicit translator(std::string_view pattern) : in_(pattern) {}

  result<std::string> run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        if (auto done = escape(); !done) return pass_on(done);
      } else if (in_class_) {
        if (auto done = inside_class(); !done) return pass_on(done);
      } else {
        if (auto done = outside_class(); !done) return pass_on(done);
      }
    }
    return std::move(out_);
  }

private:
  tl::unexpected<error> refuse(const std::string& what) const {
    return fail(errc::bad_input, "regular expression `" + std::string(in_)
                                     + "`: " + what + " at offset "
                                     + std::to_string(at_)
                                     + " is not supported; ids could differ");
  }

  result<void> inside_class() {
    const char c = in_[at_];
    if (c == '[') {
      if (at_ + 1 >= in_.size() || in_[at_ + 1] != ':')
        return refuse("a class within a class");
      const auto end = in_.find(":]", at_);
      if (end == std::string_view::npos) return refuse("an open [: class");
      out_ += in_.substr(at_, end + 2 - at_);
      at_ = end + 2;
      return {};
    }
    if (in_.substr(at_, 2) == "&&") return refuse("&& in a class");
    if (c == ']') in_class_ = false;
    out_ += c;
    ++at_;
    return {};
  }

  result<void> outside_class() {
    const char c = in_[at_];
    if (c == '[') {
      in_class_ = true;
      out_ += c;
      if (in_.substr(at_ + 1, 1) == "^") {
        ++at_;
        out_ += '^';
      }
      if (in_.substr(at_ + 1, 1) == "]") return refuse("an empty class");
    } else if (c == '(' && in_.substr(at_, 2) == "(?") {
      if (auto ok = group(); !ok) return ok;
      return {};
    } else if (c == '}' && in_.substr(at_ + 1, 1) == "+" && is_interval_end()) {
      return refuse("an interval followed by +");
    } else {
      out_ += c;
      ++at_;
      return {};
    }
    ++at_;
    return {};
  }

  bool is_interval_end() const {
    auto open = in_.rfind('{', at_);
    if (open == std::string_view::npos) return false;
    const auto body = in_.substr(open + 1, at_ - open - 1);
    return !body.empty() && std::all_of(body.begin(), body.end(), [](char c) {
      return (c >= '0' && c <= '9') || c == ',';
    });
  }

  /// `(?` and what follows up to the `:`, `)` or the first character that is
  /// no flag. Flag m means "dot matches newline" in the files' dialect.
  result<void> group() {
    std::size_t end = at_ + 2;
    while (end < in_.size()
           && (std::isalpha(static_cast<unsigned char>(in_[end]))
               || in_[end] == '-'))
      ++end;
    const auto flags = in_.substr(at_ + 2, end - at_ - 2);
    const char stop = end < in_.size() ? in_[end] : '\0';
    if (!flags.empty() && (stop == ':' || stop == ')')) {
      if (flags.find_first_not_of("i-") != std::string_view::npos)
        return refuse("the group flags (?" + std::string(flags) + ")");
      if (stop == ')' && at_ != 0)
        return refuse("flags (?" + std::string(flags) + ") inside");
      out_ += in_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      return {};
    }
    out_ += "(?";
    at_ += 2;
    return {};
  }

  void put_class(std::string_view members, bool negated) {
    if (in_class_) {
      out_ += members;
    } else {
      out_ += negated ? "[^" : "[";
      out_ += members;
      out_ += ']';
    }
  }

  result<void> escape() {
    if (at_ + 1 >= in_.size()) return refuse("a trailing backslash");
    const char c = in_[at_ + 1];
    switch (c) {
    case 's':
      out_ += space_class;
      break;
    case 'S':
      out_ += R"(\P{White_Space})";
      break;
    case 'w':
      put_class(word_class(), false);
      break;
    case 'h':
      put_class(hex_class, false);
      break;
    case 'd':
      put_class(digit_class(), false);
      break;
    case 'W':
    case 'H':
    case 'D':
      if (in_class_) return refuse("a negated set in a class");
      put_class(c == 'W'   ? word_class()
                : c == 'D' ? digit_class()
                           : std::string(hex_class),
                true);
      break;
    case 'b':
    case 'B': {
      if (in_class_) {
        out_ += R"(\x08)";
        break;
      }
      const std::string w = "[" + word_class() + "]";
      out_ += c == 'b' ? "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w
                             + "))"
                       : "(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w
                             + "))";
      break;
    }
    case 'u': {
      const auto digits = in_.substr(at_ + 2, 4);
      if (digits.size() < 4) return refuse("a short \\u");
      out_ += "\\x{" + std::string(digits) + "}";
      at_ += 4;
      break;
    }
    case 'p':
    case 'P':
      return property(c);
    case 'N':
    case 'O':
    case 'y':
    case 'Y':
    case 'g':
    case 'k':
      return refuse(std::string("the escape \\") + c);
    default: {
      out_ += '\\';
      out_ += c;
    }
    }
    at_ += 2;
    return {};
  }

  result<void> property(char letter) {
    const auto close = in_.find('}', at_);
    if (in_.substr(at_ + 2, 1) != "{" || close == std::string_view::npos)
      return refuse("a property without braces");
    auto name = std::string(in_.substr(at_ + 3, close - at_ - 3));
    std::string caret;
    if (!name.empty() && name[0] == '^') {
      caret = "^";
      name.erase(0, 1);
    }
    for (const auto& [full, brief] : long_categories)
      if (name == full) name = brief;
    const bool is_script
        = name.size() > 2
          && std::find(plain_properties.begin(), plain_properties.end(), name)
                 == plain_properties.end();
    // Outside a class the set is widened by what PCRE2 does not know yet; a
    // negated set inside a class cannot be.
    const std::string news = is_script ? script_news(name) : news_of(name);
    const bool negated = (letter == 'P') != !caret.empty();
    if (!news.empty() && !(in_class_ && negated)) {
      put_class((is_script ? "\\p{sc:" : "\\p{") + name + "}" + news, negated);
      at_ = close + 1;
      return {};
    }
    // PCRE2 takes a bare script name for its script *extensions*.
    out_ += std::string("\\") + letter + '{' + caret + (is_script ? "sc:" : "")
            + name + '}';
    at_ = close + 1;
    return {};
  }

  std::string_view in_;
  std::string out_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

} // namespace

result<std::string> to_pcre2(std::string_view pattern) {
  return translator(pattern).run();
}

std::string quote_regex(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && !std::isalnum(byte) && byte != 0) out += '\\';
    if (byte == 0)
      out += "\\x00";
    else
      out += c;
  }
  return out;
}

} // namespace kvloom::engine
