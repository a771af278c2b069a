#include "graphs/check/check_names.hpp"

#include "configs/schema/quote.hpp"

#include <algorithm>

namespace kvloom::graphs {

namespace {

constexpr std::size_t longest = 64;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

} // namespace

std::string node_name_problem(std::string_view name) {
  if (name == "model" || name == "prompt")
    return "the name " + configs::shown(name)
           + " is taken by the section of that name; choose another";
  const bool good = !name.empty() && name.size() <= longest
                    && is_lower(name.front()) && name.back() != '_'
                    && name.find("__") == std::string_view::npos
                    && std::all_of(name.begin(), name.end(), [](char c) {
                         return is_lower(c) || is_digit(c) || c == '_';
                       });
  if (good) return {};
  return "found the name " + configs::shown(name)
         + ", wanted a lower-case letter and then lower-case letters, digits "
           "and single underscores between them, at most 64";
}

std::string run_name_problem(std::string_view name) {
  const bool good = !name.empty() && name.size() <= longest
                    && (is_letter(name.front()) || is_digit(name.front()))
                    && std::all_of(name.begin(), name.end(), [](char c) {
                         return is_letter(c) || is_digit(c) || c == '_'
                                || c == '-' || c == '.';
                       });
  if (good) return {};
  return "found the name " + configs::shown(name)
         + ", wanted a letter or digit and then letters, digits, `_`, `-` "
           "and `.`, at most 64, since it names run folders";
}

} // namespace kvloom::graphs
