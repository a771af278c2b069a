// Attention over vectors of any width; included once by each attention_*.cpp
// but the one for tiles. Internal linkage only, see lanes.hpp.
//
// Scores are kept times log2(e), so that powers of two serve for the softmax.
#pragma once

#include "kernels/cpu/attention_task.hpp"
#include "kernels/cpu/lanes.hpp"

namespace kvloom::kernels {

namespace {

// What the register file holds: accumulators, operands and one spare.
#if defined(__AVX512F__)
constexpr int few_queries = 4;
constexpr int product_vectors = 4;
#else
constexpr int few_queries = 2;
constexpr int product_vectors = 2;
#endif
constexpr int product_rows = 6;
// Vectors of head_dim that the few-row path sums at a time.
constexpr int few_vectors = 4;
// Keys that the few-row path asks for in advance.
constexpr std::int64_t keys_ahead = 16;

constexpr float log2_e = 1.44269504F;
constexpr float log_2 = 0.693147181F;

// What stands in for the values of a stale key.
alignas(64) constexpr float no_values[max_head_dim] = {};

inline std::int64_t smaller_of(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

inline std::int64_t larger_of(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}

inline bool is_stale(const std::uint64_t* stale, std::int64_t key) {
  return stale != nullptr && (stale[key / 64] >> (key % 64) & 1U) != 0;
}

// The scratch of a task, handed out in pieces.
struct scratch_space {
  std::byte* at;

  float* floats(std::int64_t n) {
    auto* const out = reinterpret_cast<float*>(at);
    at += (n * 4 + 63) / 64 * 64;
    return out;
  }
};

// Scaled queries, dense.
void gather_queries(const attention_task& t, float* q) {
  const f32_lanes factor = splat(t.scale * log2_e);
  for (std::int64_t r = 0; r < t.n_rows; ++r) {
    const float* from = t.q + r * t.q_row_stride;
    for (std::int64_t c = 0; c < t.n_heads * t.head_dim; c += lanes)
      store(q + c, load(from + c) * factor);
    q += t.n_heads * t.head_dim;
  }
}

// Hides the scores [n_keys, rounded up to `padded`) of row r that it does not
// see. Key 0 of `scores` is key `first` of the segment.
inline void hide_unseen(const attention_task& t, std::int64_t r,
                        std::int64_t first, std::int64_t n_keys,
                        std::int64_t padded, float* scores) {
  const std::int64_t begin
      = smaller_of(larger_of(t.visible_begin[r] - first, 0), padded);
  const std::int64_t end
      = larger_of(smaller_of(t.visible_end[r] - first, n_keys), begin);
  for (std::int64_t j = 0; j < begin; ++j) scores[j] = hidden_score;
  for (std::int64_t j = end; j < padded; ++j) scores[j] = hidden_score;
}

// Indices of the stale keys among n_keys from `first`; returns how many.
inline int list_stale(const std::uint64_t* stale, std::int64_t first,
                      std::int64_t n_keys, std::int16_t* list) {
  int n = 0;
  if (stale == nullptr) return 0;
  for (std::int64_t j = 0; j < n_keys; ++j)
    if (is_stale(stale, first + j)) list[n++] = static_cast<std::int16_t>(j);
  return n;
}

void finish_query(float sum, float maximum, float* lse) {
  *lse
      = sum == 0 ? -__builtin_inff() : (maximum + __builtin_log2f(sum)) * log_2;
}

// -- few rows -----------------------------------------------------------------

// Asks for n_bytes that will be read soon. May reach beyond an array: it is a
// hint, which reads nothing itself.
inline void prefetch(const void* from, std::int64_t n_bytes) {
  for (std::int64_t at = 0; at < n_bytes; at += 64)
    __builtin_prefetch(static_cast<const std::byte*>(from) + at, 0, 2);
}

// Scores of Q queries with n_keys keys. Every dot product is summed in the same
// order whatever Q. Asks for the values `v` of the same keys, which follow.
template <class Stored, int Q>
void few_scores(const float* q, std::int64_t head_dim,
                const typename Stored::element* k,
                const typename Stored::element* v, std::int64_t n_keys,
                float* scores) {
  const auto four_rows
      = 4 * head_dim
        * static_cast<std::int64_t>(sizeof(typename Stored::element));
  for (std::int64_t j = 0; j < n_keys; j += 4) {
    prefetch(k + (j + keys_ahead) * head_dim, four_rows);
    prefetch(v + j * head_dim, four_rows);
    const typename Stored::element* keys[4];
    for (int i = 0; i < 4; ++i)
      keys[i] = k + smaller_of(j + i, n_keys - 1) * head_dim;
    f32_lanes sums[Q][4];
    for (auto& of_query : sums)
      for (f32_lanes& sum : of_query) sum = splat(0);
    for (std::int64_t c = 0; c < head_dim; c += lanes) {
      f32_lanes key[4];
      for (int i = 0; i < 4; ++i) key[i] = Stored::widen(keys[i] + c);
      for (int x = 0; x < Q; ++x) {
        const f32_lanes query = load(q + x * head_dim + c);
        for (int i = 0; i < 4; ++i) sums[x][i] = fma(query, key[i], sums[x][i]);
      }
    }
    for (int x = 0; x < Q; ++x)
      store_sums(scores + x * keys_a_split + j, sums[x][0], sums[x][1],
                 sums[x][2], sums[x][3]);
  }
}

// C vectors of the outputs of Q queries.
template <class Stored, int Q, int C>
void few_outputs(const float* weights, const void* const* values,
                 std::int64_t column, std::int64_t n_keys, const float* factors,
                 float* const* o) {
  f32_lanes sums[Q][C];
  for (auto& of_query : sums)
    for (f32_lanes& sum : of_query) sum = splat(0);
  for (std::int64_t j = 0; j < n_keys; ++j) {
    const auto* const from
        = static_cast<const typename Stored::element*>(values[j]) + column;
    f32_lanes value[C];
    for (int i = 0; i < C; ++i) value[i] = Stored::widen(from + i * lanes);
    for (int x = 0; x < Q; ++x) {
      const f32_lanes weight = splat(weights[x * keys_a_split + j]);
      for (int i = 0; i < C; ++i)
        sums[x][i] = fma(weight, value[i], sums[x][i]);
    }
  }
  for (int x = 0; x < Q; ++x)
    for (int i = 0; i < C; ++i)
      store(o[x] + column + i * lanes, sums[x][i] * splat(factors[x]));
}

template <class Stored, int Q>
void few_queries_at(const attention_task& t, std::int64_t first_query,
                    const float* q, const void* const* values,
                    const std::int16_t* stale, int n_stale, float* scores) {
  const std::int64_t n_keys = t.key_end - t.key_begin;
  const std::int64_t padded = (n_keys + lanes - 1) / lanes * lanes;
  const auto in_head = [&](const void* head) {
    return static_cast<const typename Stored::element*>(head)
           + t.key_begin * t.head_dim;
  };
  few_scores<Stored, Q>(q + first_query * t.head_dim, t.head_dim, in_head(t.k),
                        in_head(t.v), n_keys, scores);
  float factors[Q];
  float* outputs[Q];
  for (int x = 0; x < Q; ++x) {
    const std::int64_t r = (first_query + x) / t.n_heads;
    const std::int64_t h = (first_query + x) % t.n_heads;
    float* const s = scores + x * keys_a_split;
    hide_unseen(t, r, t.key_begin, n_keys, padded, s);
    for (int i = 0; i < n_stale; ++i) s[stale[i]] = hidden_score;
    f32_lanes most = splat(lowest_maximum);
    for (std::int64_t j = 0; j < padded; j += lanes)
      most = larger(load(s + j), most);
    const float maximum = largest_of(most);
    f32_lanes sums = splat(0);
    for (std::int64_t j = 0; j < padded; j += lanes) {
      const f32_lanes weight = exp2_of(load(s + j) - splat(maximum));
      store(s + j, weight);
      sums += weight;
    }
    const float sum = sum_of(sums);
    factors[x] = sum == 0 ? 0 : 1 / sum;
    outputs[x] = t.o + r * t.o_row_stride + h * t.head_dim;
    finish_query(sum, maximum, t.lse + r * t.lse_row_stride + h);
  }
  std::int64_t c = 0;
  for (; c + few_vectors * lanes <= t.head_dim; c += few_vectors * lanes)
    few_outputs<Stored, Q, few_vectors>(scores, values, c, n_keys, factors,
                                        outputs);
  for (; c < t.head_dim; c += lanes)
    few_outputs<Stored, Q, 1>(scores, values, c, n_keys, factors, outputs);
}

template <class Stored>
void attend_few(const attention_task& t) {
  scratch_space space{t.scratch};
  const std::int64_t n = t.n_rows * t.n_heads;
  const std::int64_t n_keys = t.key_end - t.key_begin;
  float* const q = space.floats(n * t.head_dim);
  float* const scores = space.floats(few_queries * keys_a_split);
  gather_queries(t, q);
  std::int16_t stale[keys_a_split];
  const int n_stale = list_stale(t.stale, t.key_begin, n_keys, stale);
  const void* values[keys_a_split];
  for (std::int64_t j = 0; j < n_keys; ++j)
    values[j] = static_cast<const typename Stored::element*>(t.v)
                + (t.key_begin + j) * t.head_dim;
  for (int i = 0; i < n_stale; ++i) values[stale[i]] = no_values;
  std::int64_t i = 0;
  for (; i + few_queries <= n; i += few_queries)
    few_queries_at<Stored, few_queries>(t, i, q, values, stale, n_stale,
                                        scores);
#if defined(__AVX512F__)
  if (n - i == 3) {
    few_queries_at<Stored, 3>(t, i, q, values, stale, n_stale, scores);
    return;
  }
  if (n - i == 2) {
    few_queries_at<Stored, 2>(t, i, q, values, stale, n_stale, scores);
    return;
  }
#endif
  if (n - i == 1)
    few_queries_at<Stored, 1>(t, i, q, values, stale, n_stale, scores);
}

// -- many rows ----------------------------------------------------------------

// R rows and V vectors of c = factors * c + a b (factors null: c = a b).
template <int R, int V>
void product_tile(const float* a, std::int64_t a_stride, const float* b,
                  std::int64_t b_stride, std::int64_t depth,
                  const float* factors, float* c, std::int64_t c_stride) {
  f32_lanes sums[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      sums[r][v] = factors == nullptr
                       ? splat(0)
                       : load(c + r * c_stride + v * lanes) * splat(factors[r]);
  for (std::int64_t d = 0; d < depth; ++d) {
    f32_lanes row[V];
    for (int v = 0; v < V; ++v) row[v] = load(b + d * b_stride + v * lanes);
    for (int r = 0; r < R; ++r) {
      const f32_lanes value = splat(a[r * a_stride + d]);
      for (int v = 0; v < V; ++v) sums[r][v] = fma(value, row[v], sums[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(c + r * c_stride + v * lanes, sums[r][v]);
}

template <int V>
void product_columns(std::int64_t n_rows, const float* a, std::int64_t a_stride,
                     const float* b, std::int64_t b_stride, std::int64_t depth,
                     const float* factors, float* c, std::int64_t c_stride) {
  std::int64_t r = 0;
  const auto rest = [&] { return factors == nullptr ? nullptr : factors + r; };
  for (; r + product_rows <= n_rows; r += product_rows)
    product_tile<product_rows, V>(a + r * a_stride, a_stride, b, b_stride,
                                  depth, rest(), c + r * c_stride, c_stride);
  for (; r < n_rows; ++r)
    product_tile<1, V>(a + r * a_stride, a_stride, b, b_stride, depth, rest(),
                       c + r * c_stride, c_stride);
}

// a [n_rows, depth], b [depth, n_columns], c [n_rows, n_columns]; n_columns is
// a multiple of 16.
void product(std::int64_t n_rows, std::int64_t n_columns, std::int64_t depth,
             const float* a, std::int64_t a_stride, const float* b,
             std::int64_t b_stride, const float* factors, float* c,
             std::int64_t c_stride) {
  std::int64_t n = 0;
  for (; n + product_vectors * lanes <= n_columns; n += product_vectors * lanes)
    product_columns<product_vectors>(n_rows, a, a_stride, b + n, b_stride,
                                     depth, factors, c + n, c_stride);
  for (; n < n_columns; n += lanes)
    product_columns<1>(n_rows, a, a_stride, b + n, b_stride, depth, factors,
                       c + n, c_stride);
}

using quad [[gnu::vector_size(16)]] = float;
using quad_anywhere [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]]
= float;

inline void transpose_quads(const float* from, std::int64_t from_stride,
                            float* to, std::int64_t to_stride) {
  quad rows[4];
  for (int i = 0; i < 4; ++i)
    rows[i] = *reinterpret_cast<const quad_anywhere*>(from + i * from_stride);
  const quad a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const quad b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const quad c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const quad d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const quad columns[4] = {__builtin_shufflevector(a, c, 0, 1, 4, 5),
                           __builtin_shufflevector(a, c, 2, 3, 6, 7),
                           __builtin_shufflevector(b, d, 0, 1, 4, 5),
                           __builtin_shufflevector(b, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<quad_anywhere*>(to + i * to_stride) = columns[i];
}

// A block of keys or values as f32 [keys_a_block, head_dim]; stale and absent
// keys are 0.
template <class Stored>
void widen_block(const attention_task& t, const void* from, std::int64_t first,
                 std::int64_t n_keys, float* to) {
  const auto* const elements
      = static_cast<const typename Stored::element*>(from);
  for (std::int64_t j = 0; j < keys_a_block; ++j) {
    const bool absent = j >= n_keys || is_stale(t.stale, first + j);
    for (std::int64_t c = 0; c < t.head_dim; c += lanes)
      store(to + j * t.head_dim + c,
            absent ? splat(0)
                   : Stored::widen(elements + (first + j) * t.head_dim + c));
  }
}

template <class Stored>
void attend_many(const attention_task& t) {
  scratch_space space{t.scratch};
  const std::int64_t n = t.n_rows * t.n_heads;
  float* const q = space.floats(n * t.head_dim);
  float* const o = space.floats(n * t.head_dim);
  float* const scores = space.floats(n * keys_a_block);
  float* const keys = space.floats(t.head_dim * keys_a_block);
  float* const values = space.floats(keys_a_block * t.head_dim);
  float* const maxima = space.floats(n);
  float* const sums = space.floats(n);
  float* const factors = space.floats(n);
  gather_queries(t, q);
  for (std::int64_t i = 0; i < n; ++i) {
    maxima[i] = lowest_maximum;
    sums[i] = 0;
  }
  for (std::int64_t i = 0; i < n * t.head_dim; ++i) o[i] = 0;

  for (std::int64_t first = t.key_begin; first < t.key_end;
       first += keys_a_block) {
    const std::int64_t n_keys = smaller_of(keys_a_block, t.key_end - first);
    std::int16_t stale[keys_a_block];
    const int n_stale = list_stale(t.stale, first, n_keys, stale);
    widen_block<Stored>(t, t.k, first, n_keys, values);
    for (std::int64_t j = 0; j < keys_a_block; j += 4)
      for (std::int64_t c = 0; c < t.head_dim; c += 4)
        transpose_quads(values + j * t.head_dim + c, t.head_dim,
                        keys + c * keys_a_block + j, keys_a_block);
    widen_block<Stored>(t, t.v, first, n_keys, values);
    product(n, keys_a_block, t.head_dim, q, t.head_dim, keys, keys_a_block,
            nullptr, scores, keys_a_block);
    for (std::int64_t i = 0; i < n; ++i) {
      float* const s = scores + i * keys_a_block;
      hide_unseen(t, i / t.n_heads, first, n_keys, keys_a_block, s);
      for (int x = 0; x < n_stale; ++x) s[stale[x]] = hidden_score;
      f32_lanes most = splat(maxima[i]);
      for (std::int64_t j = 0; j < keys_a_block; j += lanes)
        most = larger(load(s + j), most);
      const float maximum = largest_of(most);
      f32_lanes sum = splat(0);
      for (std::int64_t j = 0; j < keys_a_block; j += lanes) {
        const f32_lanes weight = exp2_of(load(s + j) - splat(maximum));
        store(s + j, weight);
        sum += weight;
      }
      const float factor = exp2_of(splat(maxima[i] - maximum))[0];
      factors[i] = factor;
      sums[i] = sums[i] * factor + sum_of(sum);
      maxima[i] = maximum;
    }
    product(n, t.head_dim, keys_a_block, scores, keys_a_block, values,
            t.head_dim, factors, o, t.head_dim);
  }

  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = i / t.n_heads;
    const std::int64_t h = i % t.n_heads;
    float* const to = t.o + r * t.o_row_stride + h * t.head_dim;
    const f32_lanes factor = splat(sums[i] == 0 ? 0 : 1 / sums[i]);
    for (std::int64_t c = 0; c < t.head_dim; c += lanes)
      store(to + c, load(o + i * t.head_dim + c) * factor);
    finish_query(sums[i], maxima[i], t.lse + r * t.lse_row_stride + h);
  }
}

void few(const attention_task& task) {
  if (task.type == dtype::f32)
    attend_few<stored_f32>(task);
  else if (task.type == dtype::bf16)
    attend_few<stored_bf16>(task);
  else
    attend_few<stored_f16>(task);
}

void many(const attention_task& task) {
  if (task.type == dtype::f32)
    attend_many<stored_f32>(task);
  else if (task.type == dtype::bf16)
    attend_many<stored_bf16>(task);
  else
    attend_many<stored_f16>(task);
}

} // namespace

} // namespace kvloom::kernels
