#include "storage/simulate/trace.hpp"

#include <cmath>
#include <utility>

namespace kvloom::storage {

namespace {

/// Fills previous and next: one walk each way over the uses.
void link_uses(workload& work) {
  const auto& uses = work.requests.uses;
  std::vector<std::uint32_t> seen(work.chunks.size(), never);
  work.previous.resize(uses.size());
  work.next.resize(uses.size());
  for (std::size_t r = 0; r < work.n_requests(); ++r) {
    for (auto use = work.begin(r); use < work.end(r); ++use) {
      work.previous[use] = seen[uses[use]];
      seen[uses[use]] = static_cast<std::uint32_t>(r);
    }
  }
  seen.assign(seen.size(), never);
  for (std::size_t r = work.n_requests(); r-- > 0;) {
    for (auto use = work.begin(r); use < work.end(r); ++use) {
      work.next[use] = seen[uses[use]];
      seen[uses[use]] = static_cast<std::uint32_t>(r);
    }
  }
}

} // namespace

result<workload> make_workload(trace requests, const chunk_costs& costs) {
  if (requests.n_requests() >= never)
    return fail(errc::bad_input, "a trace may have up to 4294967294 requests");
  workload work;
  work.requests = std::move(requests);
  const auto& tokens = work.requests.tokens;
  double all_bytes = 0; // only compared: rounding doesn't matter
  for (const auto chunk : work.requests.uses)
    all_bytes += static_cast<double>(tokens[chunk])
                 * static_cast<double>(costs.bytes_per_token);
  if (all_bytes >= std::ldexp(1.0, 62)) {
    return fail(errc::bad_input,
                "the chunks of all requests come to 2^62 bytes "
                "or more; give fewer bytes a token");
  }
  work.chunks.reserve(tokens.size());
  for (const auto n : tokens) {
    const auto count = static_cast<double>(n);
    work.chunks.push_back(
        {n * costs.bytes_per_token,
         count / costs.tokens_per_s + costs.quadratic_s * count * count});
  }
  link_uses(work);
  return work;
}

} // namespace kvloom::storage
