#include "configs/schema/describe.hpp"

#include <cmath>
#include <cstdint>

namespace kvloom::configs {

namespace {

const char* noun(param_type type) {
  switch (type) {
  case param_type::boolean:
    return "true or false";
  case param_type::integer:
    return "an integer";
  case param_type::real:
    return "a number";
  case param_type::text:
    return "a text";
  case param_type::choice:
    return "one of ";
  case param_type::bytes:
    return "a size in bytes such as 512MiB or 4096";
  case param_type::duration:
    return "a duration with unit such as 20ms";
  case param_type::path:
    return "a path";
  case param_type::text_list:
    return "a list of texts";
  case param_type::integer_list:
    return "a list of integers";
  case param_type::real_list:
    return "a list of numbers";
  }
  return "a value";
}

std::string bound_text(param_type type, double bound) {
  const param_type element = element_type(type);
  if (element == param_type::real) return to_text(element, bound);
  return to_text(element, static_cast<std::int64_t>(std::llround(bound)));
}

std::string range_text(const param_spec& spec) {
  if (spec.least && spec.most)
    return " from " + bound_text(spec.type, *spec.least) + " to "
           + bound_text(spec.type, *spec.most);
  if (spec.least) return " of at least " + bound_text(spec.type, *spec.least);
  if (spec.most) return " of at most " + bound_text(spec.type, *spec.most);
  return {};
}

} // namespace

bool is_list(param_type type) {
  return element_type(type) != type;
}

param_type element_type(param_type type) {
  switch (type) {
  case param_type::text_list:
    return param_type::text;
  case param_type::integer_list:
    return param_type::integer;
  case param_type::real_list:
    return param_type::real;
  default:
    return type;
  }
}

std::string describe(const param_spec& spec) {
  std::string out = noun(spec.type);
  if (spec.type == param_type::choice)
    for (std::size_t i = 0; i < spec.choices.size(); ++i)
      out += (i == 0 ? "" : ", ") + spec.choices[i];
  out += range_text(spec);
  const bool own_unit
      = spec.type == param_type::bytes || spec.type == param_type::duration;
  if (!spec.unit.empty() && !own_unit) out += " (" + spec.unit + ")";
  return out;
}

std::string range_problem(const param_spec& spec, double value) {
  const bool below = spec.least && value < *spec.least;
  const bool above = spec.most && value > *spec.most;
  if (!below && !above) return {};
  return "out of range: wanted " + describe(spec);
}

} // namespace kvloom::configs
