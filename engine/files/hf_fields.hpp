// Typed access to the fields of a JSON object.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/file_kind.hpp"
#include "engine/files/json.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// Reads fields of one object; null counts as absent. The first fault sticks
/// and is asked for once at the end.
class hf_fields {
public:
  hf_fields(const json& object, std::string place, std::string prefix = {})
      : object_(object), place_(std::move(place)), prefix_(std::move(prefix)) {}

  /// The value, or nullptr where absent or null.
  const json* find(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  /// Whether the key is there, null or not.
  bool has(std::string_view key) const { return object_.contains(key); }

  std::optional<double> number(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) {
      wrong_type(key, "a number");
      return std::nullopt;
    }
    return value->get<double>();
  }

  /// A whole number; 4096.0 is one too.
  std::optional<std::int64_t> integer(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    constexpr double limit = 9e15;
    if (!value->is_number() || std::abs(value->get<double>()) > limit
        || std::floor(value->get<double>()) != value->get<double>()) {
      wrong_type(key, "a whole number");
      return std::nullopt;
    }
    return static_cast<std::int64_t>(value->get<double>());
  }

  std::optional<bool> boolean(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) {
      wrong_type(key, "true or false");
      return std::nullopt;
    }
    return value->get<bool>();
  }

  std::optional<std::string> text(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) {
      wrong_type(key, "a text");
      return std::nullopt;
    }
    return value->get<std::string>();
  }

  std::int64_t required_integer(std::string_view key) {
    const auto value = integer(key);
    if (!value) missing(key);
    return value.value_or(0);
  }

  double required_number(std::string_view key) {
    const auto value = number(key);
    if (!value) missing(key);
    return value.value_or(0);
  }

  void missing(std::string_view key) {
    refuse("the key " + path(key) + " is missing; add it to the file");
  }

  void refuse(const std::string& message) {
    if (!fault_) fault_ = error{errc::bad_input, message, place_};
  }

  /// `"rope_scaling.factor"`
  std::string path(std::string_view key) const {
    return in_quotes(prefix_ + std::string(key));
  }

  bool ok() const { return !fault_; }
  tl::unexpected<error> fault() const { return tl::unexpected<error>(*fault_); }

private:
  void wrong_type(std::string_view key, std::string_view wanted) {
    refuse("the key " + path(key) + " is "
           + in_quotes(
               find(key)->dump(-1, ' ', false, json::error_handler_t::replace))
           + ", " + std::string(wanted) + " was wanted");
  }

  const json& object_;
  std::string place_;
  std::string prefix_;
  std::optional<error> fault_;
};

} // namespace kvloom::engine
