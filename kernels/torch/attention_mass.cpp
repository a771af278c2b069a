#include "kernels/api/attention_mass.hpp"

#include "kernels/api/elementwise.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kvloom::kernels {

namespace {

/// Keys of a task: its scores of some hundred rows stay in the second-level
/// cache.
constexpr std::int64_t keys_a_task = 256;

/// The rows of a KV head's group: [n_rows * group, head_dim], and their lse.
struct grouped_rows {
  std::vector<float> q, lse;
  std::vector<std::int64_t> positions;
};

grouped_rows gather(const attention_params& rows, std::int64_t kv_head) {
  const std::int64_t group = rows.n_q_heads / rows.n_kv_heads;
  grouped_rows all;
  for (std::int64_t r = 0; r < rows.n_rows; ++r)
    for (std::int64_t g = 0; g < group; ++g) {
      const std::int64_t head = kv_head * group + g;
      const float* q = rows.q + r * rows.q_row_stride + head * rows.head_dim;
      all.q.insert(all.q.end(), q, q + rows.head_dim);
      all.lse.push_back(rows.lse[r * rows.n_q_heads + head]);
      all.positions.push_back(rows.row_positions[r]);
    }
  return all;
}

/// Number of keys at positions <= `position`.
std::int64_t keys_up_to(const kv_segment_view& keys, std::int64_t position) {
  if (keys.positions != nullptr)
    return std::upper_bound(keys.positions, keys.positions + keys.n_keys,
                            position)
           - keys.positions;
  return std::clamp<std::int64_t>(position - keys.first_position + 1, 0,
                                  keys.n_keys);
}

bool is_stale(const kv_segment_view& keys, std::int64_t j) {
  return keys.stale != nullptr
         && ((keys.stale[j / 64] >> static_cast<unsigned>(j % 64)) & 1U) != 0;
}

/// Masses of keys [first, first + n) from the rows of one KV head.
void add_masses(const attention_params& rows, const grouped_rows& group,
                std::int64_t kv_head, std::int64_t first, std::int64_t n,
                double* mass) {
  const kv_segment_view& keys = rows.segment;
  const std::int64_t n_rows = std::ssize(group.lse);
  std::vector<float> k(static_cast<std::size_t>(n * rows.head_dim));
  const auto* head = static_cast<const std::byte*>(keys.k)
                     + (kv_head * keys.head_stride + first * rows.head_dim)
                           * block_bytes(keys.type);
  widen(n * rows.head_dim, keys.type, head, k.data());
  const auto options = at::TensorOptions().dtype(at::kFloat);
  const auto q = at::from_blob(const_cast<float*>(group.q.data()),
                               {n_rows, rows.head_dim}, options);
  const auto scores
      = at::mm(q, at::from_blob(k.data(), {n, rows.head_dim}, options).t());
  // [n_rows, n], and log-sum-exps as a column.
  auto weights = scores.mul(rows.scale)
                     .sub_(at::from_blob(const_cast<float*>(group.lse.data()),
                                         {n_rows, 1}, options));
  weights.exp_();
  const float* w = weights.const_data_ptr<float>();
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const std::int64_t m = group.positions[static_cast<std::size_t>(r)];
    if (std::isinf(group.lse[static_cast<std::size_t>(r)])) continue;
    const std::int64_t end = std::min(first + n, keys_up_to(keys, m));
    const std::int64_t begin
        = rows.window == 0 ? first
                           : std::max(first, keys_up_to(keys, m - rows.window));
    const float* row = w + r * n - first;
    for (std::int64_t j = begin; j < end; ++j)
      mass[j] += static_cast<double>(row[j]);
  }
  for (std::int64_t j = first; j < first + n; ++j)
    if (is_stale(keys, j)) mass[j] = 0;
}

} // namespace

void attention_mass(const attention_params& rows, double* mass) {
  const std::int64_t n_keys = rows.segment.n_keys;
  if (n_keys == 0 || rows.n_rows == 0) return;
  std::vector<grouped_rows> groups;
  for (std::int64_t h = 0; h < rows.n_kv_heads; ++h)
    groups.push_back(gather(rows, h));
  std::vector<double> own(static_cast<std::size_t>(n_keys));
  const std::int64_t n_tasks = (n_keys + keys_a_task - 1) / keys_a_task;
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::int64_t{0}, n_tasks, [&](std::int64_t t) {
      at::set_num_threads(1);
      const c10::InferenceMode no_grad;
      const std::int64_t first = t * keys_a_task;
      for (std::int64_t h = 0; h < rows.n_kv_heads; ++h)
        add_masses(rows, groups[static_cast<std::size_t>(h)], h, first,
                   std::min(keys_a_task, n_keys - first), own.data());
    });
  });
  for (std::int64_t j = 0; j < n_keys; ++j)
    if (own[static_cast<std::size_t>(j)] > 0)
      mass[j] += own[static_cast<std::size_t>(j)];
}

} // namespace kvloom::kernels
