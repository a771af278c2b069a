#include "engine/prefill/prefill_plan.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace kvloom::engine {

namespace {

constexpr std::array<std::string_view, 13> names{
    "none",      "all",         "random", "head_k",  "tail_k",
    "lexical",   "hkvd_v",      "hkvd_k", "hkvd_kv", "query_last",
    "query_all", "dev_x_query", "oracle"};

} // namespace

bool compares_kv(selector rule) {
  return rule == selector::hkvd_v || rule == selector::hkvd_k
         || rule == selector::hkvd_kv || rule == selector::dev_x_query;
}

bool asks_question(selector rule) {
  return rule == selector::query_last || rule == selector::query_all
         || rule == selector::dev_x_query;
}

const char* to_string(selector rule) {
  return names[static_cast<std::size_t>(rule)].data();
}

std::span<const std::string_view> selector_names() {
  return names;
}

result<selector> parse_selector(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<selector>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  return fail(errc::bad_input, "there is no selector `" + std::string(name)
                                   + "`; known: " + known);
}

const char* to_string(context_mask mask) {
  return mask == context_mask::exact ? "exact" : "bottom_right";
}

} // namespace kvloom::engine
