#include "configs/read/scalar.hpp"

#include "configs/schema/describe.hpp"
#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace kvloom::configs {

namespace {

using unit = std::pair<std::string_view, std::int64_t>;

constexpr std::array<unit, 12> byte_units = {{{"B", 1},
                                              {"kB", 1000},
                                              {"KB", 1000},
                                              {"MB", 1000000},
                                              {"GB", 1000000000},
                                              {"TB", 1000000000000},
                                              {"KiB", 1LL << 10},
                                              {"kiB", 1LL << 10},
                                              {"MiB", 1LL << 20},
                                              {"GiB", 1LL << 30},
                                              {"TiB", 1LL << 40},
                                              {"", 1}}};
constexpr std::array<unit, 6> time_units = {{{"ns", 1},
                                             {"us", 1000},
                                             {"ms", 1000000},
                                             {"s", 1000000000},
                                             {"min", 60000000000},
                                             {"h", 3600000000000}}};

tl::unexpected<std::string> problem(std::string message) {
  return tl::unexpected<std::string>(std::move(message));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Decimal integer without sign games: -?(0|[1-9][0-9]*).
bool is_integer_form(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit))
    return false;
  return text.size() == 1 || text.front() != '0';
}

/// What from_chars takes but no number in a file should be: inf, nan, hex.
bool is_real_form(std::string_view text) {
  const auto allowed = [](char c) {
    return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e'
           || c == 'E';
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), allowed))
    return false;
  if (text.front() == '-') text.remove_prefix(1);
  const bool zeros = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  return !text.empty() && !zeros && (is_digit(text[0]) || text[0] == '.');
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end;
}

constexpr std::size_t most_fraction_digits = 18; // 10^18 fits 64 bits

/// `0.digits * size`, exactly; nothing where that is no whole number.
/// 1 to most_fraction_digits digits.
std::optional<std::int64_t> fraction_of(std::string_view digits,
                                        std::int64_t size) {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  for (const char digit : digits) {
    numerator = numerator * 10 + (digit - '0');
    denominator *= 10;
  }
  const std::int64_t common = std::gcd(size, denominator);
  const std::int64_t rest = denominator / common;
  if (numerator % rest != 0) return std::nullopt;
  return numerator / rest * (size / common); // less than `size`
}

/// A number and its unit, in the smallest unit, without rounding; what was
/// wanted on failure.
template <std::size_t N>
tl::expected<std::int64_t, std::string>
read_with_unit(std::string_view text, const std::array<unit, N>& units,
               const std::string& wanted) {
  const auto split = std::find_if_not(
      text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
  const auto n_number = static_cast<std::size_t>(split - text.begin());
  const std::string_view number = text.substr(0, n_number);
  std::string_view name = text.substr(n_number);
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  const auto found
      = std::find_if(units.begin(), units.end(),
                     [&](const unit& u) { return u.first == name; });
  if (number.empty()) return problem("found " + shown(text) + ", " + wanted);
  if (found == units.end())
    return problem("found " + shown(text)
                   + (name.empty()
                          ? " without a unit, "
                          : " with the unknown unit " + shown(name) + ", ")
                   + wanted);
  const auto point = std::min(number.find('.'), number.size());
  const std::string_view whole_digits = number.substr(0, point);
  std::string_view digits = number.substr(std::min(point + 1, number.size()));
  if (!is_real_form(number) || digits.find('.') != digits.npos
      || whole_digits.size() + digits.size() == 0)
    return problem("found " + shown(text) + ", " + wanted);
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  std::int64_t whole = 0;
  if ((!whole_digits.empty() && !parse_number(whole_digits, whole))
      || __builtin_mul_overflow(whole, found->second, &whole))
    return problem("found " + shown(text) + ", which is too large");
  if (digits.empty()) return whole;
  if (digits.size() > most_fraction_digits)
    return problem("found " + shown(text) + ", which has more than "
                   + std::to_string(most_fraction_digits)
                   + " digits behind the point");
  const std::optional<std::int64_t> part = fraction_of(digits, found->second);
  if (!part)
    return problem("found " + shown(text)
                   + ", which is no whole number of the smallest unit");
  if (__builtin_add_overflow(whole, *part, &whole))
    return problem("found " + shown(text) + ", which is too large");
  return whole;
}

std::string found_wanted(const param_spec& spec, std::string_view text,
                         bool quoted) {
  param_spec element = spec;
  element.type = element_type(spec.type);
  return "found " + std::string(quoted ? "the quoted text " : "") + shown(text)
         + ", wanted " + describe(element);
}

scalar_result ranged(const param_spec& spec, std::string_view text,
                     param_value value, double number) {
  param_spec element = spec;
  element.type = element_type(spec.type);
  const std::string out = range_problem(element, number);
  if (!out.empty()) return problem("found " + shown(text) + ", " + out);
  return value;
}

scalar_result read_boolean(const param_spec& spec, std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return problem(found_wanted(spec, text, false));
}

scalar_result read_integer(const param_spec& spec, std::string_view text) {
  std::int64_t value = 0;
  if (!is_integer_form(text)) {
    std::string out = found_wanted(spec, text, false);
    const bool zeros = text.size() > 1 && text.front() == '0'
                       && std::all_of(text.begin(), text.end(), is_digit);
    if (zeros) out += "; drop the leading zeros";
    return problem(out);
  }
  if (!parse_number(text, value)) {
    // A declared range says more than the size of the type.
    param_spec element = spec;
    element.type = element_type(spec.type);
    const auto out
        = range_problem(element, text.front() == '-' ? -1e300 : 1e300);
    return problem(
        "found " + shown(text) + ", "
        + (out.empty() ? "which no signed 64-bit integer holds" : out));
  }
  return ranged(spec, text, value, static_cast<double>(value));
}

scalar_result read_real(const param_spec& spec, std::string_view text) {
  double value = 0;
  if (!is_real_form(text)) {
    std::string out = found_wanted(spec, text, false);
    if (text.find(',') != std::string_view::npos)
      out += "; the decimal sign is a point";
    return problem(out);
  }
  if (!parse_number(text, value) || !std::isfinite(value))
    return problem(found_wanted(spec, text, false) + " that a double can hold");
  return ranged(spec, text, value, value);
}

scalar_result read_text(const param_spec& spec, std::string_view text) {
  if (spec.type == param_type::path && text.empty())
    return problem("found an empty text, wanted a path");
  if (spec.type == param_type::path && text.find('\0') != text.npos)
    return problem("found a NUL character, which no path holds");
  if (spec.type != param_type::choice) return std::string(text);
  const auto& choices = spec.choices;
  if (std::find(choices.begin(), choices.end(), text) != choices.end())
    return std::string(text);
  return problem("found " + shown(text) + ", wanted " + describe(spec) + [&] {
    const std::string meant = nearest(text, choices);
    return meant.empty() ? std::string()
                         : "; did you mean " + shown(meant) + "?";
  }());
}

scalar_result with_unit(const param_spec& spec, std::string_view text,
                        tl::expected<std::int64_t, std::string> value) {
  if (!value) return problem(value.error());
  return ranged(spec, text, *value, static_cast<double>(*value));
}

} // namespace

tl::expected<std::int64_t, std::string> read_bytes(std::string_view text) {
  return read_with_unit(text, byte_units,
                        "wanted a size in bytes such as 4096, 512MiB or 2GB");
}

tl::expected<std::int64_t, std::string> read_duration(std::string_view text) {
  return read_with_unit(text, time_units,
                        "wanted a duration such as 20ms, 1.5s or 2min");
}

scalar_result read_scalar(const param_spec& spec, std::string_view text,
                          bool quoted) {
  const param_type type = element_type(spec.type);
  switch (type) {
  case param_type::text:
  case param_type::choice:
  case param_type::path:
    return read_text(spec, text);
  default:
    break;
  }
  if (quoted)
    return problem(found_wanted(spec, text, true) + "; remove the quotes");
  switch (type) {
  case param_type::boolean:
    return read_boolean(spec, text);
  case param_type::integer:
    return read_integer(spec, text);
  case param_type::real:
    return read_real(spec, text);
  case param_type::bytes:
    return with_unit(spec, text, read_bytes(text));
  case param_type::duration:
    return with_unit(spec, text, read_duration(text));
  default:
    return problem("no scalar");
  }
}

} // namespace kvloom::configs
