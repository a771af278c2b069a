// to_text(): values as they are written in YAML; reading it back gives the
// same value.
#include "configs/schema/describe.hpp"
#include "configs/schema/param.hpp"
#include "configs/schema/quote.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace kvloom::configs {

namespace {

using unit = std::pair<const char*, std::int64_t>;

constexpr std::array<unit, 4> byte_units = {{{"TiB", 1LL << 40},
                                             {"GiB", 1LL << 30},
                                             {"MiB", 1LL << 20},
                                             {"KiB", 1LL << 10}}};
constexpr std::array<unit, 6> time_units = {{{"h", 3600000000000},
                                             {"min", 60000000000},
                                             {"s", 1000000000},
                                             {"ms", 1000000},
                                             {"us", 1000},
                                             {"ns", 1}}};

std::string real_text(double value) {
  std::array<char, 64> buffer{};
  const auto end
      = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

/// In the largest unit that divides the value.
template <std::size_t N>
std::string unit_text(std::int64_t value, const std::array<unit, N>& units) {
  if (value != 0)
    for (const auto& [name, size] : units)
      if (value % size == 0) return std::to_string(value / size) + name;
  return std::to_string(value) + (units.back().second == 1 ? "ns" : "");
}

struct text_of {
  param_type type;

  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const {
    if (type == param_type::bytes) return unit_text(value, byte_units);
    if (type == param_type::duration) return unit_text(value, time_units);
    return std::to_string(value);
  }
  std::string operator()(double value) const { return real_text(value); }
  std::string operator()(const std::string& value) const {
    return yaml_scalar(value);
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string out = "[";
    for (std::size_t i = 0; i < values.size(); ++i)
      out += (i == 0 ? "" : ", ") + text_of{element_type(type)}(values[i]);
    return out + "]";
  }
};

} // namespace

std::string to_text(param_type type, const param_value& value) {
  return std::visit(text_of{type}, value);
}

} // namespace kvloom::configs
