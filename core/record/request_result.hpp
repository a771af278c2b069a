// Everything that a run says about one request: the fields of a line of
// results.jsonl (docs/formats.md). A field that does not apply is empty, and
// then absent from the line.
#pragma once

#include "core/record/question.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvloom {

/// Why decoding ended.
enum class finish_reason : std::uint8_t {
  eos,    ///< The model's end token came (it is not part of the answer).
  length, ///< max_new_tokens was reached.
  stop,   ///< A stop string came (it is not part of the answer).
};

constexpr const char* to_string(finish_reason why) {
  switch (why) {
  case finish_reason::eos:
    return "eos";
  case finish_reason::length:
    return "length";
  case finish_reason::stop:
    return "stop";
  }
  return "?";
}

/// Parts of the time to first token, nanoseconds, in the order of the work.
/// Absent parts did not happen. Their sum is the time to first token.
struct ttft_parts {
  std::optional<std::int64_t> queue_ns;     ///< waiting for the prefiller
  std::optional<std::int64_t> retrieve_ns;  ///< exposed waiting for retrieval
  std::optional<std::int64_t> tokenize_ns;  ///< prompt ids from text
  std::optional<std::int64_t> lookup_ns;    ///< asking the KV-store
  std::optional<std::int64_t> load_ns;      ///< exposed loading of KV
  std::optional<std::int64_t> rotate_ns;    ///< moving KV to its position
  std::optional<std::int64_t> select_ns;    ///< choosing rows to recompute
  std::optional<std::int64_t> recompute_ns; ///< computing context rows
  std::optional<std::int64_t> question_ns;  ///< computing the question's rows
  std::optional<std::int64_t> sample_ns;    ///< first token from logits

  std::int64_t sum_ns() const;
};

/// Token account of a prompt; prompt = prefix_hit + chunk_hit + recomputed
/// + missed, always.
struct token_account {
  std::int64_t prompt = 0;
  std::int64_t prefix_hit = 0;
  std::int64_t chunk_hit = 0;
  std::int64_t recomputed = 0;
  std::int64_t missed = 0; ///< had no stored KV and was computed
  std::int64_t output = 0; ///< ids that the engine produced, EOS included

  bool closes() const {
    return prompt == prefix_hit + chunk_hit + recomputed + missed;
  }
};

struct prefill_report {
  std::string mode = "full";
  std::optional<std::string> selector;
  std::optional<double> ratio;
  std::optional<double> effective_share;
};

struct request_result {
  std::uint32_t point = 0;
  std::uint32_t repeat = 0;
  std::uint64_t sequence = 0; ///< order of the questions within the run
  bool warmup = false;        ///< counted in no statistic
  std::string id;
  bool ok = false;
  std::optional<std::string> error_text; ///< set exactly when not ok
  std::string question;
  std::optional<std::string> answer; ///< text after stop rules
  std::vector<std::string> golds;
  std::vector<token_id> token_ids; ///< all ids produced
  std::optional<finish_reason> finish;
  std::map<std::string, double> scores; ///< em, f1, rouge_l, f1_token_ids
  std::optional<std::int64_t> ttft_ns;
  ttft_parts parts;
  std::optional<std::int64_t> retrieve_ns; ///< whole retrieval, own clock
  std::vector<std::int64_t> itl_ns;        ///< gaps between successive tokens
  std::optional<std::int64_t> e2e_ns;
  std::optional<token_account> tokens;
  std::vector<scored_passage> retrieved;
  std::optional<prefill_report> prefill;
  /// The n largest raw logits of the first token, largest first.
  std::vector<std::pair<token_id, float>> first_logits;
  std::vector<std::uint32_t> dropped_passages;

  /// (last token - first token) / (tokens - 1); absent below two tokens.
  std::optional<double> tpot_ns() const;
};

} // namespace kvloom
