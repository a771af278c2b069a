#include "configs/schema/param.hpp"

#include <stdexcept>
#include <utility>

namespace kvloom::configs {

namespace {

template <class T>
const T& typed(const std::map<std::string, resolved_value>& values,
               const std::string& name, const char* wanted) {
  const auto found = values.find(name);
  if (found == values.end())
    throw std::logic_error("parameter `" + name + "` has no value");
  const T* value = std::get_if<T>(&found->second.value);
  if (value == nullptr)
    throw std::logic_error("parameter `" + name + "` is not declared as "
                           + wanted);
  return *value;
}

} // namespace

const char* to_string(param_type type) {
  switch (type) {
  case param_type::boolean:
    return "boolean";
  case param_type::integer:
    return "integer";
  case param_type::real:
    return "real";
  case param_type::text:
    return "text";
  case param_type::choice:
    return "choice";
  case param_type::bytes:
    return "bytes";
  case param_type::duration:
    return "duration";
  case param_type::path:
    return "path";
  case param_type::text_list:
    return "list of texts";
  case param_type::integer_list:
    return "list of integers";
  case param_type::real_list:
    return "list of reals";
  }
  return "?";
}

void resolved_params::set(const std::string& name, resolved_value value) {
  values_.insert_or_assign(name, std::move(value));
}

bool resolved_params::has(const std::string& name) const {
  return values_.count(name) != 0;
}

bool resolved_params::boolean(const std::string& name) const {
  return typed<bool>(values_, name, "a boolean");
}

std::int64_t resolved_params::integer(const std::string& name) const {
  return typed<std::int64_t>(values_, name, "an integer");
}

double resolved_params::real(const std::string& name) const {
  return typed<double>(values_, name, "a real");
}

const std::string& resolved_params::text(const std::string& name) const {
  return typed<std::string>(values_, name, "a text");
}

const std::vector<std::string>&
resolved_params::texts(const std::string& name) const {
  return typed<std::vector<std::string>>(values_, name, "a list of texts");
}

const std::vector<std::int64_t>&
resolved_params::integers(const std::string& name) const {
  return typed<std::vector<std::int64_t>>(values_, name, "a list of integers");
}

const std::vector<double>&
resolved_params::reals(const std::string& name) const {
  return typed<std::vector<double>>(values_, name, "a list of reals");
}

} // namespace kvloom::configs
