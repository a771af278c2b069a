// Typed parameters: one declaration gives validation, help and documentation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kvloom::configs {

/// What a parameter holds. `bytes` reads 512MiB, 2GB, 4096; `duration` reads
/// 20ms, 1.5s, 2min (kept in nanoseconds); `ratio` is a real; `path` is
/// relative to the file that names it; lists are YAML sequences.
enum class param_type : std::uint8_t {
  boolean,
  integer,
  real,
  text,
  choice, ///< a text out of `choices`
  bytes,
  duration,
  path,
  text_list,
  integer_list,
  real_list,
};

const char* to_string(param_type type);

/// bytes, duration and integer are int64; text, choice and path are string.
using param_value
    = std::variant<bool, std::int64_t, double, std::string,
                   std::vector<std::string>, std::vector<std::int64_t>,
                   std::vector<double>>;

/// A value as it is written in YAML and in messages.
std::string to_text(param_type type, const param_value& value);

/// Declaration of one parameter.
struct param_spec {
  std::string name;
  param_type type = param_type::text;
  std::string help;                    ///< one sentence
  std::optional<param_value> fallback; ///< the default; none: must be given
  std::string unit;                    ///< "tokens", "bytes", ... may be empty
  std::optional<double> least;         ///< smallest value allowed
  std::optional<double> most;          ///< largest value allowed
  std::vector<std::string> choices;    ///< for choice
  bool optional = false;               ///< may be absent without a default
};

/// Which layer of the precedence set a value; later ones win.
enum class origin_layer : std::uint8_t {
  registered_default,
  graph,
  experiment,
  environment,
  command_line,
};

struct value_origin {
  origin_layer layer = origin_layer::registered_default;
  std::string place; ///< file:line:column, KVLOOM_NAME, --set; empty: default
};

struct resolved_value {
  param_value value;
  value_origin origin;
  param_type type = param_type::text; ///< of the declaration
};

/// Resolved parameters of one owner (an actor, the model, the prompt): every
/// declared parameter that has a value.
class resolved_params {
public:
  void set(const std::string& name, resolved_value value);
  bool has(const std::string& name) const;

  // Typed access. The names and types are those of the declarations, so a
  // wrong one is a fault of the caller: std::logic_error naming it.
  bool boolean(const std::string& name) const;
  std::int64_t integer(const std::string& name) const; ///< bytes, duration too
  double real(const std::string& name) const;
  const std::string& text(const std::string& name) const; ///< choice, path too
  const std::vector<std::string>& texts(const std::string& name) const;
  const std::vector<std::int64_t>& integers(const std::string& name) const;
  const std::vector<double>& reals(const std::string& name) const;

  const std::map<std::string, resolved_value>& all() const { return values_; }

private:
  std::map<std::string, resolved_value> values_;
};

} // namespace kvloom::configs
