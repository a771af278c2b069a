#include "actors/support/engine_model.hpp"

#include "engine/files/checkpoint.hpp"
#include "engine/model/model_runner.hpp"
#include "kernels/api/cpu_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvloom::actors {

namespace {

class engine_generation : public generation {
public:
  explicit engine_generation(engine::sequence kv) : kv_(std::move(kv)) {}
  std::int64_t length() const override { return kv_.length(); }
  engine::sequence& kv() { return kv_; }

private:
  engine::sequence kv_;
};

class engine_chooser : public token_chooser {
public:
  engine_chooser(const engine::sampling_options& options,
                 const std::string& stream, std::int64_t n_ids)
      : sampler_(options, stream, n_ids) {}
  token_id choose(std::span<const float> logits) override {
    return sampler_.choose(logits);
  }

private:
  engine::sampler sampler_;
};

class engine_answer : public answer_text {
public:
  explicit engine_answer(engine::answer_builder builder)
      : builder_(std::move(builder)) {}
  bool push(token_id id) override { return builder_.push(id); }
  const std::vector<token_id>& ids() const override { return builder_.ids(); }
  std::optional<finish_reason> finish() const override {
    return builder_.finish();
  }
  const std::string& text() const override { return builder_.text(); }

private:
  engine::answer_builder builder_;
};

/// The token that ends a turn in a style, beside the model's own end.
const char* turn_end(engine::chat_style style) {
  switch (style) {
  case engine::chat_style::chatml:
    return "<|im_end|>";
  case engine::chat_style::llama3:
    return "<|eot_id|>";
  case engine::chat_style::none:
  case engine::chat_style::llama2:
  case engine::chat_style::mistral:
    return nullptr;
  }
  return nullptr;
}

class engine_model : public language_model {
public:
  engine_model(std::shared_ptr<engine::model_runner> runner,
               std::shared_ptr<const engine::tokenizer> words,
               engine::prompt_wording wording)
      : runner_(std::move(runner)), words_(std::move(words)),
        wording_(std::move(wording)), eos_(runner_->config().eos),
        n_ids_(std::min(static_cast<std::int64_t>(words_->size()),
                        runner_->config().vocab_size)) {
    const auto* end = turn_end(wording_.style);
    const auto id = end == nullptr ? std::nullopt : words_->find(end);
    if (id && std::find(eos_.begin(), eos_.end(), *id) == eos_.end())
      eos_.push_back(*id);
  }

  std::int64_t context_length() const override {
    return runner_->config().context_length;
  }

  std::size_t vocabulary_size() const override {
    return static_cast<std::size_t>(runner_->config().vocab_size);
  }

  std::map<std::string, std::string> digests() const override {
    return {{"model", runner_->digest()}, {"tokenizer", words_->digest()}};
  }

  std::map<std::string, std::string> settings() const override {
    const auto& config = runner_->config();
    const auto& options = runner_->options();
    return {
        {"model_family", engine::to_string(config.family)},
        {"context_length", std::to_string(config.context_length)},
        {"precision", engine::to_string(options.compute)},
        {"decode_weights", engine::to_string(options.decode)},
        {"threads", std::to_string(options.threads)},
        {"prefill_rows", std::to_string(options.prefill_rows)},
        {"prompt_style", engine::to_string(wording_.style)},
        {"cpu_path", kernels::to_string(kernels::active_path())},
        {"weight_bytes", std::to_string(runner_->weight_bytes())},
    };
  }

  std::vector<std::string> notes() const override { return runner_->notes(); }

  result<engine::prompt>
  build_prompt(const question& asked,
               std::span<const passage* const> passages) const override {
    return engine::build_prompt(*words_, wording_, asked, passages);
  }

  result<std::vector<token_id>> encode(const std::string& text) const override {
    return words_->encode(text);
  }

  std::unique_ptr<token_chooser>
  new_chooser(const engine::sampling_options& options,
              const std::string& stream) const override {
    return std::make_unique<engine_chooser>(options, stream, n_ids_);
  }

  std::unique_ptr<answer_text>
  new_answer(std::int64_t max_new_tokens,
             const std::vector<std::string>& stop) const override {
    return std::make_unique<engine_answer>(
        engine::answer_builder(words_, eos_, max_new_tokens, stop));
  }

  std::vector<std::pair<token_id, float>>
  largest(std::span<const float> logits, std::size_t n) const override {
    return engine::largest_logits(logits, n, n_ids_);
  }

  result<std::unique_ptr<generation>> start(std::int64_t capacity) override {
    auto kv = runner_->start(capacity);
    if (!kv) return pass_on(kv);
    return std::make_unique<engine_generation>(std::move(*kv));
  }

  result<std::vector<float>> extend(generation& into,
                                    std::span<const token_id> ids,
                                    bool want_logits,
                                    const std::atomic<bool>* stop) override {
    return runner_->extend(static_cast<engine_generation&>(into).kv(), ids,
                           want_logits, stop);
  }

  result<std::span<const float>> step(std::span<generation* const> rows,
                                      std::span<const token_id> ids) override {
    sequences_.clear();
    for (auto* row : rows)
      sequences_.push_back(&static_cast<engine_generation*>(row)->kv());
    return runner_->step(sequences_, ids);
  }

private:
  std::shared_ptr<engine::model_runner> runner_;
  std::shared_ptr<const engine::tokenizer> words_;
  engine::prompt_wording wording_;
  std::vector<token_id> eos_;
  std::int64_t n_ids_; ///< ids that may be chosen: rows above are padding
  std::vector<engine::sequence*> sequences_; // of one step
};

engine::runner_options
runner_options_of(const configs::resolved_params& model) {
  engine::runner_options options;
  options.compute = model.text("precision") == "f32" ? engine::precision::f32
                                                     : engine::precision::bf16;
  options.threads = static_cast<int>(model.integer("threads"));
  options.prefill_rows = model.integer("prefill_rows");
  const auto& decode = model.text("decode_weights");
  options.decode = decode == "auto"   ? engine::decode_weights::automatic
                   : decode == "same" ? engine::decode_weights::same
                                      : engine::decode_weights::quantised;
  return options;
}

result<engine::prompt_wording>
wording_of(const configs::resolved_params& prompt,
           const engine::tokenizer& words) {
  engine::prompt_wording wording;
  const auto& style = prompt.text("style");
  auto found = style == "auto" ? engine::recognise_style(words)
                               : engine::parse_chat_style(style);
  if (!found) return pass_on(found);
  wording.style = *found;
  wording.system = prompt.text("system");
  wording.instruction = prompt.text("instruction");
  wording.passage_before = prompt.text("passage_before");
  wording.title_separator = prompt.text("title_separator");
  wording.passage_after = prompt.text("passage_after");
  wording.question_before = prompt.text("question_before");
  wording.question_after = prompt.text("question_after");
  return wording;
}

} // namespace

result<std::shared_ptr<language_model>>
load_engine_model(const graphs::graph& wiring) {
  const auto& model = wiring.model;
  const auto& path = model.text("path");
  const auto& words_path
      = model.has("tokenizer") ? model.text("tokenizer") : path;
  // Cheap things first: the headers of the weights (nothing is read yet) name
  // a family that is not known, and a wrong tokenizer should not cost a load.
  if (const auto file = engine::open_checkpoint(path); !file)
    return tl::unexpected<error>(file.error());
  auto words = engine::load_tokenizer(words_path);
  if (!words) return pass_on(words);
  auto wording = wording_of(wiring.prompt, **words);
  if (!wording) return pass_on(wording);
  auto runner = engine::model_runner::load(path, runner_options_of(model));
  if (!runner) return pass_on(runner);
  const auto rows = (*runner)->config().vocab_size;
  if (static_cast<std::int64_t>((*words)->size()) > rows)
    return fail(errc::environment,
                fmt::format("the tokenizer has ids up to {} and the model's "
                            "embedding has {} rows; use the tokenizer that "
                            "belongs to the model",
                            (*words)->size() - 1, rows),
                words_path);
  return std::make_shared<engine_model>(std::move(*runner), std::move(*words),
                                        std::move(*wording));
}

} // namespace kvloom::actors
