// Attention in float64 and plain loops: what the kernels are tested against.
#pragma once

#include "kernels/api/attention.hpp"

namespace kvloom::kernels {

/// attend() into o [n_rows, n_q_heads, head_dim] and lse [n_rows, n_q_heads];
/// params.o and params.lse are not used.
void attend_reference(const attention_params& params, double* o, double* lse);

/// merge_partials() in float64.
void merge_partials_reference(std::int64_t n_rows, std::int64_t n_q_heads,
                              std::int64_t head_dim, double* o_a, double* lse_a,
                              const double* o_b, const double* lse_b);

} // namespace kvloom::kernels
