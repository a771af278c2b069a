// A model without weights: answers depend on the prompt's ids only, and it
// fails, throws or hangs where a test wants it to.
#pragma once

#include "actors/support/language_model.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kvloom::test {

/// What happens in a call; an error, an exception or nothing.
using script = std::function<result<void>(const std::vector<token_id>& ids)>;

struct scripted_options {
  std::int64_t context = 4096;
  /// An answer has so many tokens before its end token; further for some.
  std::int64_t answer_tokens = 4;
  std::chrono::microseconds prefill_time{0};
  std::chrono::microseconds step_time{0};
  /// Called with the whole context at the end of a prefill and of each row of
  /// a step. May be empty.
  script on_prefill, on_step;
};

/// Ids are bytes; 256 ends an answer. The next id is a letter that depends on
/// all ids so far (FNV-1a), so any row that is lost, doubled or swapped changes
/// the answer. Counts its calls and objects.
class scripted_model : public actors::language_model {
public:
  explicit scripted_model(scripted_options options)
      : options_(std::move(options)) {}

  /// The answer that a prompt must get, from its ids alone.
  std::string expected_answer(const std::vector<token_id>& prompt,
                              std::int64_t max_new_tokens) const;

  std::atomic<int> running{0};      ///< calls at the moment
  std::atomic<int> most_running{0}; ///< never above 1
  std::atomic<std::int64_t> prefills{0}, steps{0}, largest_batch{0};
  std::shared_ptr<std::atomic<int>> live_generations
      = std::make_shared<std::atomic<int>>(0);

  std::int64_t context_length() const override { return options_.context; }
  std::size_t vocabulary_size() const override { return 257; }
  std::map<std::string, std::string> digests() const override {
    return {{"model", "scripted"}};
  }
  std::map<std::string, std::string> settings() const override { return {}; }
  std::vector<std::string> notes() const override { return {}; }
  result<engine::prompt>
  build_prompt(const question& asked,
               std::span<const passage* const> passages) const override;
  result<std::vector<token_id>> encode(const std::string& text) const override;
  std::unique_ptr<actors::token_chooser>
  new_chooser(const engine::sampling_options& options,
              const std::string& stream) const override;
  std::unique_ptr<actors::answer_text>
  new_answer(std::int64_t max_new_tokens,
             const std::vector<std::string>& stop) const override;
  std::vector<std::pair<token_id, float>> largest(std::span<const float> logits,
                                                  std::size_t n) const override;
  result<std::unique_ptr<actors::generation>>
  start(std::int64_t capacity) override;
  result<std::vector<float>> extend(actors::generation& into,
                                    std::span<const token_id> ids,
                                    bool want_logits,
                                    const std::atomic<bool>* stop) override;
  result<std::span<const float>> step(std::span<actors::generation* const> rows,
                                      std::span<const token_id> ids) override;

private:
  token_id next_after(const std::vector<token_id>& ids,
                      std::int64_t prompt_tokens) const;

  scripted_options options_;
  std::vector<float> logits_; // of the last step
};

/// The prompt that the scripted model makes, as ids.
std::vector<token_id> scripted_prompt(const question& asked,
                                      const std::vector<std::string>& texts);

/// A gate that calls wait at until it is opened.
class gate {
public:
  void open();
  void wait();

private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool open_ = false;
};

} // namespace kvloom::test
