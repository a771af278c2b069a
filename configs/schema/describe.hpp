// What a parameter accepts, in words.
#pragma once

#include "configs/schema/param.hpp"

#include <string>

namespace kvloom::configs {

/// `an integer from 1 to 64 (tokens)`, `one of full, reuse, blend`.
std::string describe(const param_spec& spec);

/// The type of the elements of a list type; other types as they are.
param_type element_type(param_type type);
bool is_list(param_type type);

/// What is wrong with a number against the range: empty if nothing.
std::string range_problem(const param_spec& spec, double value);

} // namespace kvloom::configs
