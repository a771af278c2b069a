// How the KV of a prompt comes about: which rows are taken from stored chunks,
// which are computed, and which stored rows are computed anew.
//
// Selective recompute is that of CacheBlend (Yao et al. 2024); the fixed first
// tokens of each chunk are EPIC's (Hu et al. 2024).
#pragma once

#include "core/base/result.hpp"
#include "core/kv/kv_chunk.hpp"
#include "core/record/question.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kvloom::engine {

/// Which stored rows are computed anew.
enum class selector : std::uint8_t {
  none,        ///< no row
  all,         ///< every row: full prefill by another way
  random,      ///< seeded
  head_k,      ///< the first tokens of each chunk but the first
  tail_k,      ///< the last tokens of each chunk
  lexical,     ///< tokens that the question has too, and their neighbours
  hkvd_v,      ///< largest squared deviation of V at the check layer
  hkvd_k,      ///< of K, both at the same position
  hkvd_kv,     ///< of both
  query_last,  ///< attention of the question at the last layer
  query_all,   ///< the same, normalised and summed over all layers
  dev_x_query, ///< hkvd_v times query_all
  oracle       ///< deviation from true full prefill times its attention
};

/// Which keys a recomputed row sees.
enum class context_mask : std::uint8_t {
  exact,       ///< positions up to its own
  bottom_right ///< the published code's: row i of n sees N - n + i keys
};

/// At a check layer, so many of the reused rows stay in flow.
struct check_stage {
  std::int64_t layer = 1; ///< counted from 0
  double ratio = 0.15;    ///< of the reused rows, 0..1
};

struct blend_options {
  selector rule = selector::none;
  /// Layers ascend, ratios fall. Rules that compare with fresh KV choose at
  /// these layers; the others take the first ratio from layer 0 on.
  std::vector<check_stage> stages{{1, 0.15}};
  /// The first tokens of each reused chunk are always taken.
  std::int64_t forced_head = 0;
  /// At the check layer, rows that leave the flow keep their fresh KV.
  bool check_layer_fresh = true;
  context_mask mask = context_mask::exact;
  std::uint64_t seed = 0; ///< of rule random
};

/// A run of a prompt's context.
struct context_piece {
  std::span<const token_id> ids;
  kv_lease kv; ///< of exactly these ids; null: they are computed
  /// False: its KV is exact where it stands (the opening, a prefix), so its
  /// rows are no candidates and not counted as reused.
  bool repairable = true;
};

struct prefill_plan {
  std::vector<context_piece> context; ///< in the order of the prompt
  std::span<const token_id> question; ///< at least one id; always computed
  blend_options blend;
};

/// What a prefill did. Times are consecutive.
struct prefill_outcome {
  std::vector<float> logits;    ///< of the last question row, [vocab_size]
  std::int64_t exact_rows = 0;  ///< stored, in pieces that need no repair
  std::int64_t reused_rows = 0; ///< stored, candidates of the rule
  std::int64_t missed_rows = 0; ///< of pieces without KV
  std::vector<std::int64_t> selected; ///< positions computed anew, ascending,
                                      ///< behind the last stage
  /// Operations done over those of full prefill, selection included.
  double effective_share = 1;
  std::int64_t select_ns = 0; ///< until the last rows were chosen
  std::int64_t recompute_ns
      = 0; ///< from there on, the question's rows included
};

/// True for rules that compare stored with fresh KV at check layers.
bool compares_kv(selector rule);
/// True for rules that need the question's attention over the stored KV.
bool asks_question(selector rule);

const char* to_string(selector rule);
std::span<const std::string_view> selector_names();
result<selector> parse_selector(std::string_view name);

const char* to_string(context_mask mask);

} // namespace kvloom::engine
