// The KV of a request as plain arrays by position: for comparisons.
#pragma once

#include "engine/segments/request_kv.hpp"

#include <cstdint>
#include <vector>

namespace kvloom::engine {

/// One layer, widened to f32, keys rotated at their absolute positions.
struct dense_kv {
  std::vector<float> k, v; ///< [n_rows, n_kv_heads, head_dim]
};

/// Rows [first, last) of a layer. Each position's row is that of the patch if
/// there is one, else of its chunk, else of the tail.
dense_kv read_dense(const request_kv& kv, std::int64_t layer,
                    std::int64_t first, std::int64_t last,
                    std::int64_t n_kv_heads, std::int64_t head_dim,
                    const rotation& turn);

/// The rows of a chunk as they would be at `start`; the keys as they are
/// stored where `move_keys` is false.
dense_kv read_dense(const placed_chunk& placed, std::int64_t layer,
                    const rotation& turn, bool move_keys = true);

} // namespace kvloom::engine
