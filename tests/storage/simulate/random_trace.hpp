// Small traces by chance.
#pragma once

#include "core/base/random.hpp"
#include "storage/simulate/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kvloom::storage {

struct random_shape {
  std::uint64_t chunks = 6;
  std::uint64_t requests = 12;
  std::uint64_t in_request = 3; ///< at most; none is possible
  std::uint64_t tokens = 1;     ///< 1 to that
  double quadratic_s = 0;
};

/// One byte and one second a token.
inline workload random_work(const random_shape& shape, std::uint64_t seed) {
  random_stream draw(seed, "random_work");
  trace out;
  for (std::uint64_t i = 0; i < shape.chunks; ++i)
    out.tokens.push_back(
        static_cast<std::int64_t>(1 + draw.below(shape.tokens)));
  for (std::uint64_t r = 0; r < shape.requests; ++r) {
    const auto begin = static_cast<std::ptrdiff_t>(out.uses.size());
    for (auto n = draw.below(shape.in_request + 1); n > 0; --n) {
      const auto chunk = static_cast<std::uint32_t>(draw.below(shape.chunks));
      if (std::find(out.uses.begin() + begin, out.uses.end(), chunk)
          == out.uses.end())
        out.uses.push_back(chunk);
    }
    out.first_use.push_back(out.uses.size());
  }
  return std::move(*make_workload(std::move(out), {1, 1.0, shape.quadratic_s}));
}

} // namespace kvloom::storage
