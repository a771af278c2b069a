// How much attention keys get: the weights that attention sums over, by key.
#pragma once

#include "kernels/api/attention.hpp"

namespace kvloom::kernels {

/// mass[j] += sum over rows and query heads of e^(s_j - lse), the share of the
/// row's attention that key j of the segment gets; hidden and stale keys get
/// none. `rows.lse` [n_rows, n_q_heads] is read: the log-sum-exp over all
/// segments, not of this one; rows of -infinity count nothing. `rows.o` is not
/// used. f32; the sum over keys in double. mass [segment.n_keys].
/// Runs on the caller's TBB arena; the same input gives the same bits.
void attention_mass(const attention_params& rows, double* mass);

} // namespace kvloom::kernels
