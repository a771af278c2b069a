// Random attention problems, their float64 answers and the comparison.
#pragma once

#include "kernels/api/attention.hpp"
#include "kernels/api/cpu_features.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace kvloom::kernels {

/// Limits the path while it lives.
class path_limit {
public:
  explicit path_limit(cpu_path path) { limit_path(path); }
  ~path_limit() { limit_path(cpu_path::amx); }
  path_limit(const path_limit&) = delete;
  path_limit& operator=(const path_limit&) = delete;
};

/// The paths that this machine has.
std::vector<cpu_path> paths_here();

struct attention_shape {
  std::int64_t n_rows = 1, n_q_heads = 1, n_kv_heads = 1, head_dim = 64;
  std::int64_t n_keys = 1;
  dtype type = dtype::f32;
  std::int64_t window = 0;
  /// Position of the first row less that of the first key.
  std::int64_t first_row = 0;
  bool explicit_positions = false; ///< keys at every third position
  double stale_share = 0;          ///< stale keys hold NaN
  double score_size = 1;           ///< standard deviation of the scores
};

/// Owns the arrays of one problem, normally distributed.
struct attention_case {
  attention_shape shape;
  std::vector<float> q;
  std::vector<std::byte> k,
      v; ///< [n_kv_heads, n_keys + 3 rows apart, head_dim]
  std::vector<std::int64_t> row_positions, key_positions;
  std::vector<std::uint64_t> stale;

  attention_case(const attention_shape& wanted, std::uint64_t seed);

  /// Without outputs.
  attention_params params() const;
  void set_value(bool key_side, std::int64_t head, std::int64_t key,
                 std::int64_t column, float value);
};

struct attention_output {
  std::vector<float> o, lse;
};

attention_output attend_case(const attention_params& params);

/// Compares `out` with the float64 reference. Tiles round q and the weights to
/// bf16: the reference then gets the rounded q and the outputs 2^-9 of the
/// largest value; everything else is f32.
void expect_near_reference(const attention_case& problem,
                           const attention_output& out, bool tiles);

/// Whether attend() of this problem on `path` runs over tiles.
bool uses_tiles(const attention_shape& shape, cpu_path path);

} // namespace kvloom::kernels
