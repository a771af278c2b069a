#include "datasets/shapes/answers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kvloom::datasets {

namespace {

void add(std::vector<std::string>& golds, const std::string& one) {
  if (std::find(golds.begin(), golds.end(), one) == golds.end())
    golds.push_back(one);
}

result<void> flatten(const row_context& where, const std::string& field,
                     const json_value& value, std::vector<std::string>& golds) {
  if (value.is_null()) return {};
  if (const auto* text = value.as_text()) {
    add(golds, *text);
    return {};
  }
  if (const auto* number = value.as_number()) {
    add(golds, number->spelling);
    return {};
  }
  if (const auto* list = value.as_list()) {
    std::size_t i = 0;
    for (const auto& one : *list)
      if (auto done
          = flatten(where, fmt::format("{}[{}]", field, i++), one, golds);
          !done)
        return done;
    return {};
  }
  if (value.as_object() != nullptr) {
    bool known = false;
    for (const auto* name : {"text", "value", "aliases"})
      if (const auto* inner = value.find_any(name)) {
        known = true;
        if (auto done
            = flatten(where, fmt::format("{}.{}", field, name), *inner, golds);
            !done)
          return done;
      }
    if (known) return {};
  }
  return where.wrong_kind(value, field, "a text, a number, or a list of such");
}

} // namespace

result<std::vector<std::string>> read_answers(const row_context& where,
                                              const json_value& row) {
  std::vector<std::string> golds;
  for (const auto* name :
       {"answers", "answer", "golds", "reference_summary", "answer_aliases"})
    if (const auto* value = row.find(name))
      if (auto done = flatten(where, name, *value, golds); !done)
        return pass_on(done);
  return golds;
}

} // namespace kvloom::datasets
