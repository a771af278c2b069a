// What is simulated: requests, each of which uses some chunks.
#pragma once

#include "core/base/result.hpp"
#include "storage/policy/eviction_policy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvloom::storage {

/// Requests in order. Chunks are numbered from 0. A request uses a chunk once,
/// however often it names it.
struct trace {
  std::vector<std::int64_t> tokens;        ///< [n_chunks], > 0
  std::vector<std::uint32_t> uses;         ///< [n_uses], chunks by request
  std::vector<std::uint64_t> first_use{0}; ///< [n_requests + 1], into uses

  std::size_t n_requests() const { return first_use.size() - 1; }
};

/// What a chunk costs to hold and to make again. seconds = tokens /
/// tokens_per_s + quadratic_s * tokens^2: the linear layers, and the attention
/// of the chunk to itself.
struct chunk_costs {
  std::int64_t bytes_per_token = 131072; ///< > 0
  double tokens_per_s = 5000;            ///< > 0
  double quadratic_s = 0;                ///< seconds a token squared, >= 0
};

/// No request.
inline constexpr std::uint32_t never = 0xffffffff;

/// A trace with its costs, and for each use the requests that use the same
/// chunk before and after it.
struct workload {
  trace requests;
  std::vector<entry_facts> chunks;     ///< [n_chunks]
  std::vector<std::uint32_t> previous; ///< [n_uses], requests or never
  std::vector<std::uint32_t> next;     ///< [n_uses], requests or never

  std::size_t n_requests() const { return requests.n_requests(); }
  /// Numbers of the uses of a request.
  std::uint64_t begin(std::size_t request) const {
    return requests.first_use[request];
  }
  std::uint64_t end(std::size_t request) const {
    return requests.first_use[request + 1];
  }
};

/// Errors: bad_input where the bytes of all uses don't fit 62 bits, or there
/// are too many requests to number (32 bits).
result<workload> make_workload(trace requests, const chunk_costs& costs);

} // namespace kvloom::storage
