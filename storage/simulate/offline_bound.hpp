// What no policy can beat, whatever it knows of the future.
#pragma once

#include "storage/simulate/trace.hpp"

#include <cstdint>

namespace kvloom::storage {

enum class bound_kind : std::uint8_t {
  every_reuse, ///< exact: all that is ever reused fits at once
  belady,      ///< exact: chunks of one size and one cost
  relaxation,  ///< an upper bound, perhaps above the optimum
};

/// `every_reuse`, `belady`, `relaxation`.
const char* to_string(bound_kind kind);

struct offline_bound {
  double saved_s = 0;
  bound_kind kind = bound_kind::relaxation;
};

/// An upper bound of the seconds that a store of that capacity can save: the
/// optimum of a store that knows all requests, may drop or decline any chunk
/// at any time, and gets chunks from nowhere but the requests that use them.
/// O(u log u) in the number of uses.
offline_bound bound_saved_seconds(const workload& work,
                                  std::int64_t capacity_bytes);

} // namespace kvloom::storage
