// From logits to a token id, and when to stop.
#pragma once

#include "core/base/random.hpp"
#include "core/record/question.hpp"
#include "core/record/request_result.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvloom::engine {

struct sampling_options {
  double temperature = 0; ///< 0: greedy
  std::int64_t top_k = 0; ///< 0: all
  double top_p = 1;       ///< 1: all
  std::uint64_t seed = 0;
};

/// Chooses ids. The order of the filters is temperature, top-k, top-p (the
/// smallest set of largest probabilities that reaches top_p); each leaves at
/// least one id. NaN is never chosen. Same seed and stream name, same
/// choices. Greedy takes the
/// lowest id among equals. Ids at or above `n_ids` (padding rows of the
/// embedding) are never chosen.
class sampler {
public:
  sampler(const sampling_options& options, std::string_view stream_name,
          std::int64_t n_ids);
  token_id choose(std::span<const float> logits);

private:
  sampling_options options_;
  random_stream random_;
  std::int64_t n_ids_;
};

/// The n largest logits below n_ids, largest first, lower id first at ties.
std::vector<std::pair<token_id, float>>
largest_logits(std::span<const float> logits, std::size_t n,
               std::int64_t n_ids);

/// Follows one answer: detokenises, applies EOS, length and stop strings. A
/// stop string may lie across tokens and matches whole characters only, so a
/// cut never leaves half a character; the one that starts first wins. At one
/// id EOS goes before stop strings, and these before the length.
/// Not thread-safe.
class answer_builder {
public:
  /// max_new_tokens >= 1; stop strings are not empty (an empty one is
  /// ignored: it would end every answer before it starts).
  answer_builder(std::shared_ptr<const tokenizer> words,
                 std::vector<token_id> eos, std::int64_t max_new_tokens,
                 std::vector<std::string> stop_strings);

  /// Takes the next id; true when the answer is complete. An EOS id counts as
  /// produced but gives no text. After the end nothing changes any more.
  bool push(token_id id);

  const std::vector<token_id>& ids() const { return ids_; }
  std::optional<finish_reason> finish() const { return finish_; }
  /// Text so far; after the end cut before the first stop string.
  const std::string& text() const { return text_; }

private:
  void end(finish_reason why);
  bool cut_at_stop(std::size_t searched);

  stream_decoder decoder_;
  std::vector<token_id> eos_;
  std::int64_t max_new_tokens_;
  std::vector<std::string> stop_strings_;
  std::size_t longest_stop_ = 0; ///< bytes
  std::vector<token_id> ids_;
  std::string text_;
  std::optional<finish_reason> finish_;
};

} // namespace kvloom::engine
