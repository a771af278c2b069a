#include "kernels/api/attention.hpp"
#include "kernels/cpu/elementwise_path.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace kvloom::kernels {

void merge_partials(std::int64_t n_rows, std::int64_t n_q_heads,
                    std::int64_t head_dim, float* o_a, float* lse_a,
                    const float* o_b, const float* lse_b) {
  constexpr std::int64_t heads_a_task = 256;
  const std::int64_t n = n_rows * n_q_heads;
  const elementwise_path path = active_elementwise();
  const auto merge = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      path.merge_head(head_dim, o_a + i * head_dim, lse_a + i,
                      o_b + i * head_dim, lse_b[i]);
  };
  if (n <= heads_a_task) {
    merge(0, n);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, heads_a_task),
                    [&](const tbb::blocked_range<std::int64_t>& heads) {
                      merge(heads.begin(), heads.end());
                    });
}

} // namespace kvloom::kernels
