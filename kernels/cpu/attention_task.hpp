// One piece of attention work, as the instruction-set paths compute it.
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstddef>
#include <cstdint>

namespace kvloom::kernels {

/// Most queries (rows times heads) of one task.
inline constexpr std::int64_t max_task_queries = 256;
/// Greatest head_dim.
inline constexpr std::int64_t max_head_dim = 256;
/// Keys that the many-row paths hold widened at a time; key ranges of tasks
/// begin at multiples of it.
inline constexpr std::int64_t keys_a_block = 64;
/// Keys of a split of the few-row paths.
inline constexpr std::int64_t keys_a_split = 256;
/// Bytes of `attention_task::scratch`, enough for every path.
inline constexpr std::size_t attention_scratch_bytes = 1 << 20;

/// Some rows and some query heads of one KV head over the keys
/// [key_begin, key_end). Query i is row i / n_heads, head i % n_heads.
struct attention_task {
  std::int64_t n_rows = 0, n_heads = 0, head_dim = 0;
  const float* q = nullptr; ///< first row, first head; heads are adjacent
  std::int64_t q_row_stride = 0;
  float scale = 1;
  /// Row r sees the keys [visible_begin[r], visible_end[r]), indices into the
  /// segment, whatever the task's range.
  const std::int32_t* visible_begin = nullptr;
  const std::int32_t* visible_end = nullptr;

  const void* k = nullptr; ///< key 0 of the KV head
  const void* v = nullptr;
  dtype type = dtype::f32;
  std::int64_t n_keys = 0; ///< of the segment
  const std::uint64_t* stale = nullptr;
  std::int64_t key_begin = 0, key_end = 0;

  /// amx only. V of the KV head by 32 keys: [key / 32][head_dim][32], stale
  /// and absent keys 0; and the last n_keys % 32 keys, filled up with 0 to 32.
  const std::uint16_t* packed_v = nullptr;
  const std::uint16_t* tail_k = nullptr;

  float* o = nullptr; ///< first row, first head; heads are adjacent
  std::int64_t o_row_stride = 0;
  float* lse = nullptr; ///< likewise
  std::int64_t lse_row_stride = 0;
  std::byte* scratch = nullptr; ///< aligned to 64 bytes, of this thread alone
};

/// How a path computes tasks. `few` is for tasks of up to keys_a_split keys and
/// gives a query the same bits whatever the other queries of the task and
/// whatever key_end, as long as it sees the same keys.
struct attention_path {
  void (*few)(const attention_task& task);
  void (*many)(const attention_task& task);
};

attention_path attention_portable();
attention_path attention_avx2();
attention_path attention_avx512();

/// bf16, head_dim in multiples of 32; the thread's tile configuration is
/// released at the end.
void attend_many_amx(const attention_task& task);

/// Writes the 32-key block `block` of packed_v. v: key 0 of the KV head.
void pack_values_amx(const std::uint16_t* v, std::int64_t head_dim,
                     std::int64_t n_keys, const std::uint64_t* stale,
                     std::int64_t block, std::uint16_t* packed_v);

} // namespace kvloom::kernels
