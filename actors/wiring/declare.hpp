// Declarations of ports and parameters in one line each.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "configs/schema/param.hpp"
#include "graphs/model/kind.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::actors {

/// A whole number from `least` to `most` with a unit for people.
configs::param_spec integer_param(std::string name, std::string help,
                                  std::int64_t fallback, double least,
                                  double most, std::string unit);

configs::param_spec boolean_param(std::string name, std::string help,
                                  bool fallback);

configs::param_spec real_param(std::string name, std::string help,
                               double fallback, double least, double most);

/// One of `choices`.
configs::param_spec choice_param(std::string name, std::string help,
                                 std::string fallback,
                                 std::vector<std::string> choices);

/// A duration in seconds, as default and range.
configs::param_spec duration_param(std::string name, std::string help,
                                   double fallback_s, double least_s,
                                   double most_s);

/// A path that must be given.
configs::param_spec path_param(std::string name, std::string help);

/// A list of texts, empty by default.
configs::param_spec texts_param(std::string name, std::string help);

/// A port that carries T.
template <class T>
graphs::port_spec port_of(std::string name, std::string help) {
  graphs::port_spec port;
  port.name = std::move(name);
  port.payload = payload_name<T>;
  port.help = std::move(help);
  return port;
}

/// An input that takes T from one producer or more.
template <class T>
graphs::port_spec input_of(std::string name, std::string help) {
  auto port = port_of<T>(std::move(name), std::move(help));
  port.many = true;
  return port;
}

} // namespace kvloom::actors
