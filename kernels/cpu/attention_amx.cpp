// Many-row attention over bf16 keys and values with tiles of 16 x 16 sums.
//
// Everything is transposed: S^T = K Q^T reads keys as they lie in memory and
// has one query a lane, so that the softmax needs no sum or maximum across
// lanes, and O^T = V^T P^T needs V by columns once a call (packed_v). Queries
// go in groups of 16, keys in units of 32.
#include "kernels/cpu/attention_task.hpp"
#include "kernels/cpu/lanes.hpp"

namespace kvloom::kernels {

namespace {

constexpr std::int64_t group_queries = 16;
constexpr std::int64_t unit_keys = 32;
/// Keys between two looks at the maximum: two units. The keys and values of
/// more would not stay in the L1 cache from one group to the next.
constexpr std::int64_t block_keys = 2 * unit_keys;
constexpr float log2_e = 1.44269504F;
constexpr float log_2 = 0.693147181F;

struct alignas(64) tile_configuration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

constexpr tile_configuration all_tiles;

/// The tile intrinsics do not tell the compiler what memory they read.
inline void finish_stores() {
  asm volatile("" ::: "memory");
}

/// rows[i][j] becomes rows[j][i], 32-bit elements.
inline void transpose(__m512i (&rows)[16]) {
  __m512i a[16];
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    a[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  __m512i b[16]; // by fours: b[4 g + c] has column c, lanes c, c + 4, ...
  for (int g = 0; g < 16; g += 4) {
    b[g] = _mm512_unpacklo_epi64(a[g], a[g + 2]);
    b[g + 1] = _mm512_unpackhi_epi64(a[g], a[g + 2]);
    b[g + 2] = _mm512_unpacklo_epi64(a[g + 1], a[g + 3]);
    b[g + 3] = _mm512_unpackhi_epi64(a[g + 1], a[g + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    const __m512i low = _mm512_shuffle_i32x4(b[c], b[4 + c], 0x88);
    const __m512i high = _mm512_shuffle_i32x4(b[c], b[4 + c], 0xdd);
    const __m512i low2 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0x88);
    const __m512i high2 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0xdd);
    rows[c] = _mm512_shuffle_i32x4(low, low2, 0x88);
    rows[c + 8] = _mm512_shuffle_i32x4(low, low2, 0xdd);
    rows[c + 4] = _mm512_shuffle_i32x4(high, high2, 0x88);
    rows[c + 12] = _mm512_shuffle_i32x4(high, high2, 0xdd);
  }
}

/// What the groups of a task see, and where their numbers lie.
struct query_group {
  alignas(64) std::int32_t visible_begin[group_queries];
  alignas(64) std::int32_t visible_end[group_queries];
  std::int32_t first_begin, last_begin, first_end, last_end;
  std::uint16_t* q = nullptr; ///< [head_dim / 32][16 pairs][16 queries][2]
  float* o = nullptr;         ///< [head_dim][16]
  f32_lanes maximum, sum;     ///< maximum before the scale
};

/// Query i of the task: row and head.
struct query_place {
  std::int64_t row, head;
};

inline query_place place_of(const attention_task& t, std::int64_t i) {
  return {i / t.n_heads, i % t.n_heads};
}

void pack_queries(const attention_task& t, std::int64_t first,
                  std::uint16_t* to) {
  const std::int64_t n = t.n_rows * t.n_heads;
  for (std::int64_t c = 0; c < t.head_dim; c += 32) {
    __m512i rows[16];
    for (std::int64_t i = 0; i < group_queries; ++i) {
      if (first + i >= n) {
        rows[i] = _mm512_setzero_si512();
        continue;
      }
      const query_place place = place_of(t, first + i);
      const float* from
          = t.q + place.row * t.q_row_stride + place.head * t.head_dim + c;
      rows[i] = reinterpret_cast<__m512i>(
          _mm512_cvtne2ps_pbh(load(from + 16), load(from)));
    }
    transpose(rows);
    for (const __m512i& row : rows) {
      _mm512_store_si512(to, row);
      to += 32;
    }
  }
}

void start_group(const attention_task& t, std::int64_t first,
                 query_group& group) {
  const std::int64_t n = t.n_rows * t.n_heads;
  for (std::int64_t i = 0; i < group_queries; ++i) {
    // Absent queries see what the last one sees; nobody reads their results.
    const std::int64_t row = place_of(t, first + i < n ? first + i : n - 1).row;
    const std::int32_t begin = t.visible_begin[row];
    const std::int32_t end = t.visible_end[row];
    group.visible_begin[i] = begin;
    group.visible_end[i] = end;
    if (i == 0 || begin < group.first_begin) group.first_begin = begin;
    if (i == 0 || begin > group.last_begin) group.last_begin = begin;
    if (i == 0 || end < group.first_end) group.first_end = end;
    if (i == 0 || end > group.last_end) group.last_end = end;
  }
  group.maximum = splat(lowest_maximum);
  group.sum = splat(0);
  for (std::int64_t c = 0; c < t.head_dim; ++c)
    store(group.o + c * group_queries, splat(0));
  pack_queries(t, first, group.q);
}

/// Keys of one unit.
inline const std::uint16_t* unit_keys_at(const attention_task& t,
                                         std::int64_t key) {
  return key + unit_keys <= t.n_keys
             ? static_cast<const std::uint16_t*>(t.k) + key * t.head_dim
             : t.tail_k;
}

/// Scores of 64 keys, two units, [64][16 queries]. Four sums are under way at a
/// time: one product takes much longer than the next one has to wait.
void two_unit_scores(const std::uint16_t* k, const std::uint16_t* next_k,
                     std::int64_t head_dim, const std::uint16_t* q,
                     float* scores) {
  const std::int64_t k_stride = head_dim * 2;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t c = 0; c < head_dim; c += 32) {
    _tile_loadd(4, q + c * group_queries, 64);
    _tile_loadd(5, k + c, k_stride);
    _tile_dpbf16ps(0, 5, 4);
    _tile_loadd(6, k + 16 * head_dim + c, k_stride);
    _tile_dpbf16ps(1, 6, 4);
    _tile_loadd(7, next_k + c, k_stride);
    _tile_dpbf16ps(2, 7, 4);
    _tile_loadd(5, next_k + 16 * head_dim + c, k_stride);
    _tile_dpbf16ps(3, 5, 4);
  }
  _tile_stored(0, scores, 64);
  _tile_stored(1, scores + 16 * group_queries, 64);
  _tile_stored(2, scores + 32 * group_queries, 64);
  _tile_stored(3, scores + 48 * group_queries, 64);
}

/// Scores of one unit, [32][16 queries].
void unit_scores(const std::uint16_t* k, std::int64_t head_dim,
                 const std::uint16_t* q, float* scores) {
  const std::int64_t k_stride = head_dim * 2;
  _tile_zero(0);
  _tile_zero(1);
  for (std::int64_t c = 0; c < head_dim; c += 32) {
    _tile_loadd(4, q + c * group_queries, 64);
    _tile_loadd(5, k + c, k_stride);
    _tile_loadd(6, k + 16 * head_dim + c, k_stride);
    _tile_dpbf16ps(0, 5, 4);
    _tile_dpbf16ps(1, 6, 4);
  }
  _tile_stored(0, scores, 64);
  _tile_stored(1, scores + 16 * group_queries, 64);
}

inline bool is_stale(const std::uint64_t* stale, std::int64_t key) {
  return (stale[key / 64] >> (key % 64) & 1U) != 0;
}

void hide_unseen(const attention_task& t, const query_group& group,
                 std::int64_t first, std::int64_t n_keys, float* scores) {
  const __m512i begin = _mm512_load_si512(group.visible_begin);
  const __m512i end = _mm512_load_si512(group.visible_end);
  for (std::int64_t j = 0; j < n_keys; ++j) {
    const std::int64_t key = first + j;
    float* const s = scores + j * group_queries;
    if (key < t.n_keys && t.stale != nullptr && is_stale(t.stale, key)) {
      store(s, splat(hidden_score));
      continue;
    }
    const __m512i index = _mm512_set1_epi32(static_cast<int>(key));
    const __mmask16 seen = _mm512_cmple_epi32_mask(begin, index)
                           & _mm512_cmpgt_epi32_mask(end, index);
    store(s, _mm512_mask_mov_ps(splat(hidden_score), seen, load(s)));
  }
}

/// Scores to weights: p[unit][16 key pairs][16 queries][2] in bf16.
void weigh(const attention_task& t, std::int64_t n_keys, const float* scores,
           query_group& group, std::uint16_t* p) {
  f32_lanes most[4];
  for (f32_lanes& m : most) m = group.maximum;
  for (std::int64_t j = 0; j < n_keys; j += 4)
    for (int i = 0; i < 4; ++i)
      most[i] = larger(load(scores + (j + i) * group_queries), most[i]);
  const f32_lanes maximum
      = larger(larger(most[0], most[1]), larger(most[2], most[3]));
  const f32_lanes scale = splat(t.scale * log2_e);
  if (_mm512_cmpneq_ps_mask(maximum, group.maximum) != 0) {
    const f32_lanes factor = exp2_of((group.maximum - maximum) * scale);
    for (std::int64_t c = 0; c < t.head_dim; ++c) {
      float* const o = group.o + c * group_queries;
      store(o, load(o) * factor);
    }
    group.sum = group.sum * factor;
    group.maximum = maximum;
  }
  const f32_lanes offset = maximum * scale;
  // Puts the two halves of a conversion side by side.
  const __m512i interleave = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
      6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  f32_lanes even_sum = splat(0);
  f32_lanes odd_sum = splat(0);
  for (std::int64_t j = 0; j < n_keys; j += 2) {
    const float* const s = scores + j * group_queries;
    const f32_lanes even = exp2_of(_mm512_fmsub_ps(load(s), scale, offset));
    const f32_lanes odd
        = exp2_of(_mm512_fmsub_ps(load(s + group_queries), scale, offset));
    even_sum += even;
    odd_sum += odd;
    _mm512_store_si512(p + j * group_queries,
                       _mm512_permutexvar_epi16(
                           interleave, reinterpret_cast<__m512i>(
                                           _mm512_cvtne2ps_pbh(odd, even))));
  }
  group.sum += even_sum + odd_sum;
}

/// o += V^T P^T over the units of a block, for 32 columns of V.
void add_32_columns(const std::uint16_t* v, std::int64_t head_dim,
                    std::int64_t n_units, const std::uint16_t* p, float* o) {
  _tile_loadd(0, o, 64);
  _tile_loadd(1, o + 16 * group_queries, 64);
  for (std::int64_t u = 0; u < n_units; ++u) {
    _tile_loadd(4, p + u * unit_keys * group_queries, 64);
    _tile_loadd(5, v, 64);
    _tile_loadd(6, v + 16 * unit_keys, 64);
    _tile_dpbf16ps(0, 5, 4);
    _tile_dpbf16ps(1, 6, 4);
    v += head_dim * unit_keys;
  }
  _tile_stored(0, o, 64);
  _tile_stored(1, o + 16 * group_queries, 64);
}

/// The same for 64 columns.
void add_64_columns(const std::uint16_t* v, std::int64_t head_dim,
                    std::int64_t n_units, const std::uint16_t* p, float* o) {
  _tile_loadd(0, o, 64);
  _tile_loadd(1, o + 16 * group_queries, 64);
  _tile_loadd(2, o + 32 * group_queries, 64);
  _tile_loadd(3, o + 48 * group_queries, 64);
  for (std::int64_t u = 0; u < n_units; ++u) {
    _tile_loadd(4, p + u * unit_keys * group_queries, 64);
    _tile_loadd(5, v, 64);
    _tile_dpbf16ps(0, 5, 4);
    _tile_loadd(6, v + 16 * unit_keys, 64);
    _tile_dpbf16ps(1, 6, 4);
    _tile_loadd(7, v + 32 * unit_keys, 64);
    _tile_dpbf16ps(2, 7, 4);
    _tile_loadd(5, v + 48 * unit_keys, 64);
    _tile_dpbf16ps(3, 5, 4);
    v += head_dim * unit_keys;
  }
  _tile_stored(0, o, 64);
  _tile_stored(1, o + 16 * group_queries, 64);
  _tile_stored(2, o + 32 * group_queries, 64);
  _tile_stored(3, o + 48 * group_queries, 64);
}

/// Weights of a group that wait for their values.
struct pending_values {
  float* o = nullptr; ///< null: none
  const std::uint16_t* p = nullptr;
  std::int64_t first = 0, n_units = 0;
};

void add_values(const attention_task& t, pending_values& pending) {
  if (pending.o == nullptr) return;
  const std::uint16_t* v = t.packed_v + pending.first * t.head_dim;
  std::int64_t c = 0;
  for (; c + 64 <= t.head_dim; c += 64)
    add_64_columns(v + c * unit_keys, t.head_dim, pending.n_units, pending.p,
                   pending.o + c * group_queries);
  if (c < t.head_dim)
    add_32_columns(v + c * unit_keys, t.head_dim, pending.n_units, pending.p,
                   pending.o + c * group_queries);
  pending.o = nullptr;
}

void finish_group(const attention_task& t, std::int64_t first,
                  const query_group& group) {
  const std::int64_t n = t.n_rows * t.n_heads;
  const __mmask16 any = _mm512_cmpneq_ps_mask(group.sum, _mm512_setzero_ps());
  const f32_lanes factor = _mm512_maskz_div_ps(any, splat(1), group.sum);
  for (std::int64_t c = 0; c < t.head_dim; c += 16) {
    __m512i rows[16];
    for (std::int64_t i = 0; i < 16; ++i)
      rows[i] = reinterpret_cast<__m512i>(
          load(group.o + (c + i) * group_queries) * factor);
    transpose(rows);
    for (std::int64_t i = 0; i < group_queries && first + i < n; ++i) {
      const query_place place = place_of(t, first + i);
      _mm512_storeu_si512(t.o + place.row * t.o_row_stride
                              + place.head * t.head_dim + c,
                          rows[i]);
    }
  }
  for (std::int64_t i = 0; i < group_queries && first + i < n; ++i) {
    const query_place place = place_of(t, first + i);
    const float sum = group.sum[i];
    const float maximum = group.maximum[i] * (t.scale * log2_e);
    t.lse[place.row * t.lse_row_stride + place.head]
        = sum == 0 ? -__builtin_inff()
                   : (maximum + __builtin_log2f(sum)) * log_2;
  }
}

bool any_stale(const attention_task& t, std::int64_t first, std::int64_t end) {
  if (t.stale == nullptr) return false;
  for (std::int64_t j = first; j < end; ++j)
    if (is_stale(t.stale, j)) return true;
  return false;
}

} // namespace

void attend_many_amx(const attention_task& t) {
  const std::int64_t n = t.n_rows * t.n_heads;
  const std::int64_t n_groups = (n + group_queries - 1) / group_queries;
  std::byte* space = t.scratch;
  const auto take = [&](std::int64_t bytes) {
    std::byte* const out = space;
    space += bytes;
    return out;
  };
  auto* const scores
      = reinterpret_cast<float*>(take(block_keys * group_queries * 4));
  auto* const p
      = reinterpret_cast<std::uint16_t*>(take(block_keys * group_queries * 2));
  query_group groups[max_task_queries / group_queries];
  for (std::int64_t g = 0; g < n_groups; ++g) {
    groups[g].q = reinterpret_cast<std::uint16_t*>(
        take(t.head_dim * group_queries * 2));
    groups[g].o
        = reinterpret_cast<float*>(take(t.head_dim * group_queries * 4));
    start_group(t, g * group_queries, groups[g]);
  }

  finish_stores();
  _tile_loadconfig(&all_tiles);
  pending_values pending;
  for (std::int64_t first = t.key_begin; first < t.key_end;
       first += block_keys) {
    const std::int64_t end
        = first + block_keys < t.key_end ? first + block_keys : t.key_end;
    const std::int64_t n_units = (end - first + unit_keys - 1) / unit_keys;
    const std::int64_t n_keys = n_units * unit_keys;
    const bool stale = any_stale(t, first, end);
    for (std::int64_t g = 0; g < n_groups; ++g) {
      query_group& group = groups[g];
      if (first >= group.last_end || end <= group.first_begin) continue;
      if (n_units == 2)
        two_unit_scores(unit_keys_at(t, first),
                        unit_keys_at(t, first + unit_keys), t.head_dim, group.q,
                        scores);
      else
        unit_scores(unit_keys_at(t, first), t.head_dim, group.q, scores);
      // In between, so that neither waits for what was just stored.
      add_values(t, pending);
      if (stale || first < group.last_begin || first + n_keys > group.first_end)
        hide_unseen(t, group, first, n_keys, scores);
      weigh(t, n_keys, scores, group, p);
      finish_stores();
      pending = {group.o, p, first, n_units};
    }
  }
  add_values(t, pending);
  _tile_release();
  for (std::int64_t g = 0; g < n_groups; ++g)
    finish_group(t, g * group_queries, groups[g]);
}

void pack_values_amx(const std::uint16_t* v, std::int64_t head_dim,
                     std::int64_t n_keys, const std::uint64_t* stale,
                     std::int64_t block, std::uint16_t* packed_v) {
  const std::int64_t first = block * unit_keys;
  const auto value = [&](std::int64_t key, std::int64_t c) {
    if (key >= n_keys || (stale != nullptr && is_stale(stale, key)))
      return _mm512_setzero_si512();
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(v + key * head_dim + c)));
  };
  for (std::int64_t c = 0; c < head_dim; c += 16) {
    __m512i rows[16];
    for (std::int64_t i = 0; i < 16; ++i)
      rows[i]
          = _mm512_or_si512(value(first + 2 * i, c),
                            _mm512_slli_epi32(value(first + 2 * i + 1, c), 16));
    transpose(rows);
    for (std::int64_t i = 0; i < 16; ++i)
      _mm512_storeu_si512(packed_v + (first * head_dim) + (c + i) * unit_keys,
                          rows[i]);
  }
}

} // namespace kvloom::kernels
