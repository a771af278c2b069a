// Made-up traces: popularity by Zipf's law.
#pragma once

#include "core/base/result.hpp"
#include "storage/simulate/trace.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace kvloom::storage {

struct zipf_options {
  std::int64_t n = 10'000;         ///< chunks there are
  double s = 0.9;                  ///< exponent; 0: all alike
  std::int64_t requests = 100'000; ///<
  std::int64_t chunks = 5;         ///< different ones in a request
  std::int64_t min_tokens = 512;   ///< tokens of a chunk, evenly between
  std::int64_t max_tokens = 512;   ///< the two
  double drift = 0;  ///< ranks by which the popularity moves on a request
  double repeat = 0; ///< chance that a chunk is one of the request before
};

/// Reads `n=1000,s=0.8,requests=5000,chunks=5,tokens=200..900,drift=0.01,
/// repeat=0.3`; what isn't named keeps its default. Errors: bad_input naming
/// the key, what was found and what is wanted.
result<zipf_options> read_zipf_options(std::string_view text);

/// Rank k (from 1) is drawn with a weight of k^-s; at request r it is chunk
/// (k - 1 + floor(drift * r)) mod n. Options are those that
/// read_zipf_options() lets through. The same seed gives the same trace.
trace make_zipf_trace(const zipf_options& options, std::uint64_t seed);

} // namespace kvloom::storage
