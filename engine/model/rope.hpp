// Frequencies and magnitude of the rotary position embedding.
#pragma once

#include "engine/model/model_config.hpp"

#include <cstdint>
#include <vector>

namespace kvloom::engine {

/// Angle per position of each pair (j, j + head_dim/2): [head_dim / 2].
/// Formulas of Hugging Face `modeling_rope_utils` (plain; linear: Chen et al.
/// 2023; llama3: Llama 3.1; yarn: Peng et al. 2023), each step rounded to f32
/// as there: at position 20,000 an angle that differs in the last bit of its
/// frequency is off by 1e-3. Every value is an f32 held in a double.
/// `freq_divisors`, where present, divide the result.
/// Requires a checked configuration: head_dim even, factor > 0.
std::vector<double> inverse_frequencies(const rope_config& rope,
                                        std::int64_t head_dim);

/// Factor on cosine and sine, so on both q and k; 1 unless yarn.
double rope_magnitude(const rope_config& rope);

} // namespace kvloom::engine
