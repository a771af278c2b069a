#include "kernels/api/attention.hpp"

#include "kernels/api/cpu_features.hpp"
#include "kernels/cpu/attention_task.hpp"
#include "kernels/cpu/elementwise_path.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::kernels {

namespace {

/// Rows up to which the few-row path runs: a step of decoding, or a draft.
constexpr std::int64_t most_few_rows = 8;
/// Rows of a many-row task; more would waste work on the causal diagonal.
constexpr std::int64_t most_task_rows = 128;
/// Many-row tasks are split by keys until there are so many.
constexpr std::int64_t enough_tasks = 16;
constexpr std::int64_t least_split_keys = 512;
/// Products of a query and a key element that are not worth a second thread.
constexpr std::int64_t inline_products = 1 << 17;
/// Keys of one block of packed values (attention_task::packed_v).
constexpr std::int64_t pack_keys = 32;

struct free_aligned {
  void operator()(void* at) const {
    ::operator delete (at, std::align_val_t{64});
  }
};

template <class T>
using aligned_array = std::unique_ptr<T[], free_aligned>;

template <class T>
aligned_array<T> make_aligned(std::int64_t n) {
  return aligned_array<T>(static_cast<T*>(::operator new (
      static_cast<std::size_t>(n) * sizeof(T), std::align_val_t{64})));
}

/// Scratch of this thread, kept for the next task.
std::byte* thread_scratch() {
  thread_local const aligned_array<std::byte> scratch
      = make_aligned<std::byte>(attention_scratch_bytes);
  return scratch.get();
}

template <class Body>
void for_each_index(std::int64_t n, bool in_line, const Body& body) {
  if (in_line || n == 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, n, 1),
      [&](const tbb::blocked_range<std::int64_t>& range) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
      },
      tbb::simple_partitioner{});
}

/// Keys [begin[r], end[r]) that row r sees; none: both 0.
struct visible_ranges {
  std::vector<std::int32_t> begin, end;

  explicit visible_ranges(const attention_params& p)
      : begin(static_cast<std::size_t>(p.n_rows)), end(begin.size()) {
    for (std::size_t r = 0; r < begin.size(); ++r) {
      const std::int64_t last = p.row_positions[r];
      const std::int64_t to = keys_up_to(p.segment, last);
      const std::int64_t from
          = p.window > 0 ? keys_up_to(p.segment, last - p.window) : 0;
      if (from >= to) continue;
      begin[r] = static_cast<std::int32_t>(from);
      end[r] = static_cast<std::int32_t>(to);
    }
  }

  /// Number of keys at positions <= `position`.
  static std::int64_t keys_up_to(const kv_segment_view& s,
                                 std::int64_t position) {
    if (s.positions != nullptr)
      return std::upper_bound(s.positions, s.positions + s.n_keys, position)
             - s.positions;
    return std::clamp<std::int64_t>(position - s.first_position + 1, 0,
                                    s.n_keys);
  }

  /// Least range that holds what the rows [first, first + n) see; empty if
  /// they see nothing.
  std::pair<std::int64_t, std::int64_t> of_rows(std::int64_t first,
                                                std::int64_t n) const {
    std::int64_t from = std::numeric_limits<std::int64_t>::max();
    std::int64_t to = 0;
    for (auto r = static_cast<std::size_t>(first);
         r < static_cast<std::size_t>(first + n); ++r) {
      if (begin[r] == end[r]) continue;
      from = std::min<std::int64_t>(from, begin[r]);
      to = std::max<std::int64_t>(to, end[r]);
    }
    return to == 0 ? std::pair<std::int64_t, std::int64_t>{0, 0}
                   : std::pair{from, to};
  }
};

attention_path path_for(cpu_path active) {
#if defined(__x86_64__)
  switch (active) {
  case cpu_path::portable:
    return attention_portable();
  case cpu_path::avx2:
    return attention_avx2();
  case cpu_path::avx512:
  case cpu_path::amx:
    return attention_avx512();
  }
#endif
  static_cast<void>(active);
  return attention_portable();
}

#if defined(__x86_64__)

/// Tiles apply the scale after the maximum, and hide keys by a finite score.
bool suits_tiles(const attention_params& p) {
  return active_path() == cpu_path::amx && p.segment.type == dtype::bf16
         && p.head_dim % 32 == 0 && p.scale > 1e-6F && p.scale < 1e6F;
}

/// V of every KV head by columns, and the last keys filled up to 32, for the
/// keys [begin, end).
struct tile_operands {
  aligned_array<std::uint16_t> v, tail;
  std::int64_t head_elements = 0;

  tile_operands(const attention_params& p, std::int64_t begin, std::int64_t end,
                bool in_line) {
    const kv_segment_view& s = p.segment;
    // Tasks begin at whole blocks and read what lies before `begin`, too.
    const std::int64_t first
        = begin / keys_a_block * (keys_a_block / pack_keys);
    const std::int64_t n_blocks = (end + pack_keys - 1) / pack_keys - first;
    head_elements
        = (s.n_keys + pack_keys - 1) / pack_keys * pack_keys * p.head_dim;
    v = make_aligned<std::uint16_t>(p.n_kv_heads * head_elements);
    for_each_index(p.n_kv_heads * n_blocks, in_line, [&](std::int64_t i) {
      const std::int64_t h = i / n_blocks;
      pack_values_amx(static_cast<const std::uint16_t*>(s.v)
                          + h * s.head_stride,
                      p.head_dim, s.n_keys, s.stale, first + i % n_blocks,
                      v.get() + h * head_elements);
    });
    const std::int64_t n_tail = s.n_keys % pack_keys;
    if (n_tail == 0) return;
    tail = make_aligned<std::uint16_t>(p.n_kv_heads * pack_keys * p.head_dim);
    for (std::int64_t h = 0; h < p.n_kv_heads; ++h) {
      std::uint16_t* const to = tail.get() + h * pack_keys * p.head_dim;
      std::copy_n(static_cast<const std::uint16_t*>(s.k) + h * s.head_stride
                      + (s.n_keys - n_tail) * p.head_dim,
                  n_tail * p.head_dim, to);
      std::fill_n(to + n_tail * p.head_dim, (pack_keys - n_tail) * p.head_dim,
                  std::uint16_t{0});
    }
  }
};

#endif

void check(const attention_params& p) {
  if (p.head_dim >= 16 && p.head_dim <= max_head_dim && p.head_dim % 16 == 0
      && p.n_kv_heads > 0 && p.n_q_heads % p.n_kv_heads == 0
      && p.segment.n_keys < std::numeric_limits<std::int32_t>::max()
      && (p.segment.type == dtype::f32 || p.segment.type == dtype::bf16
          || p.segment.type == dtype::f16))
    return;
  throw std::logic_error(
      "attend(): head_dim " + std::to_string(p.head_dim) + " with "
      + std::to_string(p.n_q_heads) + " query and "
      + std::to_string(p.n_kv_heads) + " KV heads of "
      + to_string(p.segment.type)
      + "; wanted head_dim 16..256 in multiples of 16, query heads in "
        "multiples of the KV heads, f32, bf16 or f16");
}

/// How a call is cut into tasks; a function of the shapes alone.
struct division {
  std::int64_t task_heads = 0, head_blocks = 0; ///< of one KV head's queries
  std::int64_t task_rows = 0, row_blocks = 0;
  std::int64_t first_key = 0, split_keys = 0, n_splits = 0;

  division(const attention_params& p, bool few, std::int64_t begin,
           std::int64_t end) {
    const std::int64_t group = p.n_q_heads / p.n_kv_heads;
    task_heads = std::min(group, max_task_queries);
    head_blocks = (group + task_heads - 1) / task_heads;
    task_rows
        = std::min({p.n_rows, most_task_rows, max_task_queries / task_heads});
    row_blocks = (p.n_rows + task_rows - 1) / task_rows;
    const std::int64_t unit = few ? keys_a_split : keys_a_block;
    first_key = begin / unit * unit;
    const std::int64_t n_keys = end - first_key;
    if (few) {
      split_keys = keys_a_split;
    } else {
      const std::int64_t others = p.n_kv_heads * head_blocks * row_blocks;
      const std::int64_t wanted
          = std::clamp((enough_tasks + others - 1) / others, std::int64_t{1},
                       std::max(std::int64_t{1}, n_keys / least_split_keys));
      split_keys = ((n_keys + wanted - 1) / wanted + unit - 1) / unit * unit;
    }
    n_splits = (n_keys + split_keys - 1) / split_keys;
  }

  std::int64_t n_tasks(const attention_params& p) const {
    return p.n_kv_heads * head_blocks * row_blocks * n_splits;
  }
};

void nothing_seen(std::int64_t n_rows, std::int64_t n_heads,
                  std::int64_t head_dim, float* o, std::int64_t o_stride,
                  float* lse, std::int64_t lse_stride) {
  for (std::int64_t r = 0; r < n_rows; ++r) {
    std::fill_n(o + r * o_stride, n_heads * head_dim, 0.0F);
    std::fill_n(lse + r * lse_stride, n_heads,
                -std::numeric_limits<float>::infinity());
  }
}

} // namespace

void attend(const attention_params& p) {
  if (p.n_rows <= 0 || p.n_q_heads <= 0) return;
  check(p);
  const std::int64_t width = p.n_q_heads * p.head_dim;
  const visible_ranges seen(p);
  const auto [begin, end] = seen.of_rows(0, p.n_rows);
  if (begin == end) {
    nothing_seen(p.n_rows, p.n_q_heads, p.head_dim, p.o, width, p.lse,
                 p.n_q_heads);
    return;
  }

  const bool few = p.n_rows <= most_few_rows;
  const division cut(p, few, begin, end);
  const bool in_line = p.n_rows * width * (end - begin) <= inline_products;
  const attention_path path = path_for(active_path());
  auto compute = few ? path.few : path.many;
#if defined(__x86_64__)
  std::unique_ptr<const tile_operands> operands;
  if (!few && suits_tiles(p)) {
    operands = std::make_unique<tile_operands>(p, begin, end, in_line);
    compute = attend_many_amx;
  }
#endif

  // Results of every split, [n_splits][n_rows, n_q_heads, head_dim]; the first
  // one is that of the caller.
  const std::int64_t rest = cut.n_splits - 1;
  const auto o_rest = make_aligned<float>(rest * p.n_rows * width);
  const auto lse_rest = make_aligned<float>(rest * p.n_rows * p.n_q_heads);
  const std::int64_t group = p.n_q_heads / p.n_kv_heads;

  const auto run_task = [&](std::int64_t i) {
    const std::int64_t split = i % cut.n_splits;
    i /= cut.n_splits;
    const std::int64_t kv_head = i % p.n_kv_heads;
    i /= p.n_kv_heads;
    const std::int64_t head_block = i % cut.head_blocks;
    // Late rows first: they see more keys.
    const std::int64_t row
        = (cut.row_blocks - 1 - i / cut.head_blocks) * cut.task_rows;
    const std::int64_t head = kv_head * group + head_block * cut.task_heads;
    float* const o
        = split == 0 ? p.o : o_rest.get() + (split - 1) * p.n_rows * width;
    float* const lse
        = split == 0 ? p.lse
                     : lse_rest.get() + (split - 1) * p.n_rows * p.n_q_heads;

    attention_task t;
    t.n_rows = std::min(cut.task_rows, p.n_rows - row);
    t.n_heads = std::min(cut.task_heads, group - head_block * cut.task_heads);
    t.head_dim = p.head_dim;
    t.q = p.q + row * p.q_row_stride + head * p.head_dim;
    t.q_row_stride = p.q_row_stride;
    t.scale = p.scale;
    t.visible_begin = seen.begin.data() + row;
    t.visible_end = seen.end.data() + row;
    const std::int64_t kv_bytes
        = kv_head * p.segment.head_stride * row_bytes(p.segment.type, 1);
    t.k = static_cast<const std::byte*>(p.segment.k) + kv_bytes;
    t.v = static_cast<const std::byte*>(p.segment.v) + kv_bytes;
    t.type = p.segment.type;
    t.n_keys = p.segment.n_keys;
    t.stale = p.segment.stale;
    t.o = o + row * width + head * p.head_dim;
    t.o_row_stride = width;
    t.lse = lse + row * p.n_q_heads + head;
    t.lse_row_stride = p.n_q_heads;

    const auto [from, to] = seen.of_rows(row, t.n_rows);
    const std::int64_t split_begin = cut.first_key + split * cut.split_keys;
    t.key_begin = std::max(split_begin, from / keys_a_block * keys_a_block);
    t.key_end = std::min(split_begin + cut.split_keys, to);
    if (t.key_begin >= t.key_end) {
      nothing_seen(t.n_rows, t.n_heads, t.head_dim, t.o, width, t.lse,
                   p.n_q_heads);
      return;
    }
#if defined(__x86_64__)
    if (operands != nullptr) {
      t.packed_v = operands->v.get() + kv_head * operands->head_elements;
      if (operands->tail != nullptr)
        t.tail_k = operands->tail.get() + kv_head * pack_keys * p.head_dim;
    }
#endif
    t.scratch = thread_scratch();
    compute(t);
  };
  for_each_index(cut.n_tasks(p), in_line, run_task);

  if (rest == 0) return;
  const auto merge_row = active_elementwise().merge_head;
  for_each_index(
      p.n_rows, in_line || p.n_rows * rest < 64, [&](std::int64_t r) {
        for (std::int64_t h = r * p.n_q_heads; h < (r + 1) * p.n_q_heads; ++h)
          for (std::int64_t s = 0; s < rest; ++s) {
            const std::int64_t at = s * p.n_rows * p.n_q_heads + h;
            merge_row(p.head_dim, p.o + h * p.head_dim, p.lse + h,
                      o_rest.get() + at * p.head_dim, lse_rest[at]);
          }
      });
}

} // namespace kvloom::kernels
