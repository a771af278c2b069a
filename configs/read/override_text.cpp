#include "configs/read/override_text.hpp"

#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace kvloom::configs {

namespace {

constexpr std::string_view prefix = "KVLOOM_";

bool is_exempt(std::string_view name) {
  constexpr std::array<std::string_view, 4> names
      = {"KVLOOM_VENV", "KVLOOM_BUILD", "KVLOOM_MODELS", "KVLOOM_JOBS"};
  return std::find(names.begin(), names.end(), name) != names.end()
         || name.substr(0, 12) == "KVLOOM_TEST_";
}

/// The option as it is named in messages: without quotes around it, short.
std::string option_name(const std::string& option) {
  std::string text = shown(option);
  return "--set " + text.substr(1, text.size() - 2);
}

} // namespace

std::vector<override_text> read_set_options(const std::vector<std::string>& set,
                                            diagnostics& problems) {
  std::vector<override_text> out;
  for (const std::string& option : set) {
    override_text one;
    one.place = whole(option_name(option));
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      one.place.column = 1;
      problems.push_back({one.place,
                          {},
                          "found " + shown(option)
                              + ", wanted path=value, such as "
                                "retriever.top_k=4"});
      continue;
    }
    const std::string path = option.substr(0, equals);
    const std::size_t dot = path.find('.');
    one.owner = dot == std::string::npos ? "" : path.substr(0, dot);
    one.name = dot == std::string::npos ? path : path.substr(dot + 1);
    one.text = option.substr(equals + 1);
    one.value_column = static_cast<int>(equals) + 2;
    out.push_back(one);
  }
  return out;
}

std::string variable_name(const std::string& target) {
  std::string out(prefix);
  for (const char c : target) {
    if (c == '.')
      out += "__";
    else
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

std::vector<override_text>
read_environment(const std::map<std::string, std::string>& variables,
                 const std::vector<std::string>& targets,
                 diagnostics& problems) {
  std::map<std::string, std::string> by_variable;
  std::vector<std::string> known;
  for (const std::string& target : targets) {
    known.push_back(variable_name(target));
    by_variable[known.back()] = target;
  }
  std::vector<override_text> out;
  for (const auto& [name, text] : variables) {
    if (std::string_view(name).substr(0, prefix.size()) != prefix) continue;
    const auto found = by_variable.find(name);
    if (found == by_variable.end()) {
      if (is_exempt(name)) continue;
      const std::string meant = nearest(name, known);
      problems.push_back(
          {whole(name),
           {},
           "this environment variable names no parameter; "
               + (meant.empty() ? std::string()
                                : "did you mean " + shown(meant) + "? ")
               + "wanted KVLOOM_<ACTOR>__<PARAMETER>; unset it if it is not "
                 "meant"});
      continue;
    }
    override_text one;
    const std::string& target = found->second;
    const std::size_t dot = target.find('.');
    one.owner = dot == std::string::npos ? "" : target.substr(0, dot);
    one.name = dot == std::string::npos ? target : target.substr(dot + 1);
    one.text = text;
    one.place = whole(name);
    one.value_column = 1;
    out.push_back(one);
  }
  return out;
}

} // namespace kvloom::configs
