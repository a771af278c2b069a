#include "actors/wiring/declare.hpp"

namespace kvloom::actors {

using configs::param_spec;
using configs::param_type;

namespace {

param_spec declared(std::string name, param_type type, std::string help) {
  param_spec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.help = std::move(help);
  return spec;
}

} // namespace

param_spec integer_param(std::string name, std::string help,
                         std::int64_t fallback, double least, double most,
                         std::string unit) {
  auto spec = declared(std::move(name), param_type::integer, std::move(help));
  spec.fallback = fallback;
  spec.least = least;
  spec.most = most;
  spec.unit = std::move(unit);
  return spec;
}

param_spec boolean_param(std::string name, std::string help, bool fallback) {
  auto spec = declared(std::move(name), param_type::boolean, std::move(help));
  spec.fallback = fallback;
  return spec;
}

param_spec real_param(std::string name, std::string help, double fallback,
                      double least, double most) {
  auto spec = declared(std::move(name), param_type::real, std::move(help));
  spec.fallback = fallback;
  spec.least = least;
  spec.most = most;
  return spec;
}

param_spec choice_param(std::string name, std::string help,
                        std::string fallback,
                        std::vector<std::string> choices) {
  auto spec = declared(std::move(name), param_type::choice, std::move(help));
  spec.fallback = std::move(fallback);
  spec.choices = std::move(choices);
  return spec;
}

param_spec duration_param(std::string name, std::string help, double fallback_s,
                          double least_s, double most_s) {
  auto spec = declared(std::move(name), param_type::duration, std::move(help));
  spec.fallback = static_cast<std::int64_t>(fallback_s * 1e9);
  spec.least = least_s * 1e9;
  spec.most = most_s * 1e9;
  spec.unit = "ns";
  return spec;
}

param_spec path_param(std::string name, std::string help) {
  return declared(std::move(name), param_type::path, std::move(help));
}

param_spec texts_param(std::string name, std::string help) {
  auto spec = declared(std::move(name), param_type::text_list, std::move(help));
  spec.fallback = std::vector<std::string>{};
  return spec;
}

} // namespace kvloom::actors
