#include "core/record/request_result.hpp"

#include <numeric>

namespace kvloom {

std::int64_t ttft_parts::sum_ns() const {
  std::int64_t sum = 0;
  for (const auto& part :
       {queue_ns, retrieve_ns, tokenize_ns, lookup_ns, load_ns, rotate_ns,
        select_ns, recompute_ns, question_ns, sample_ns})
    sum += part.value_or(0);
  return sum;
}

std::optional<double> request_result::tpot_ns() const {
  if (itl_ns.empty()) return std::nullopt;
  const auto sum
      = std::accumulate(itl_ns.begin(), itl_ns.end(), std::int64_t{0});
  return static_cast<double>(sum) / static_cast<double>(itl_ns.size());
}

} // namespace kvloom
