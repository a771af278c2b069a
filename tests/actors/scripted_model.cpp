#include "tests/actors/scripted_model.hpp"

#include <algorithm>
#include <thread>

namespace kvloom::test {

namespace {

constexpr token_id end_id = 256;

class scripted_generation : public actors::generation {
public:
  scripted_generation(std::shared_ptr<std::atomic<int>> live,
                      std::int64_t most_tokens)
      : capacity(most_tokens), live_(std::move(live)) {
    ++*live_;
  }
  ~scripted_generation() override { --*live_; }
  std::int64_t length() const override {
    return static_cast<std::int64_t>(ids.size());
  }

  std::vector<token_id> ids;
  std::int64_t prompt_tokens = 0;
  std::int64_t capacity;

private:
  std::shared_ptr<std::atomic<int>> live_;
};

class greedy_chooser : public actors::token_chooser {
public:
  token_id choose(std::span<const float> logits) override {
    return static_cast<token_id>(std::max_element(logits.begin(), logits.end())
                                 - logits.begin());
  }
};

class scripted_answer : public actors::answer_text {
public:
  scripted_answer(std::int64_t most, std::vector<std::string> stop)
      : most_(most), stop_(std::move(stop)) {}

  bool push(token_id id) override {
    ids_.push_back(id);
    if (id == end_id) {
      finish_ = finish_reason::eos;
      return true;
    }
    text_ += static_cast<char>(id);
    for (const auto& stop : stop_) {
      const auto at = text_.find(stop);
      if (at == std::string::npos) continue;
      text_.resize(at);
      finish_ = finish_reason::stop;
      return true;
    }
    if (static_cast<std::int64_t>(ids_.size()) < most_) return false;
    finish_ = finish_reason::length;
    return true;
  }
  const std::vector<token_id>& ids() const override { return ids_; }
  std::optional<finish_reason> finish() const override { return finish_; }
  const std::string& text() const override { return text_; }

private:
  std::int64_t most_;
  std::vector<std::string> stop_;
  std::vector<token_id> ids_;
  std::string text_;
  std::optional<finish_reason> finish_;
};

/// Notes how many calls run at once.
class call_guard {
public:
  explicit call_guard(scripted_model& model) : model_(model) {
    const int now = ++model_.running;
    int most = model_.most_running;
    while (most < now && !model_.most_running.compare_exchange_weak(most, now))
      ;
  }
  ~call_guard() { --model_.running; }
  call_guard(const call_guard&) = delete;
  call_guard& operator=(const call_guard&) = delete;

private:
  scripted_model& model_;
};

void append(std::vector<token_id>& ids, const std::string& text) {
  for (const char one : text) ids.push_back(static_cast<unsigned char>(one));
}

std::vector<float> logits_for(token_id id) {
  std::vector<float> logits(257, 0);
  logits[static_cast<std::size_t>(id)] = 1;
  return logits;
}

} // namespace

std::vector<token_id> scripted_prompt(const question& asked,
                                      const std::vector<std::string>& texts) {
  std::vector<token_id> ids;
  append(ids, "<");
  for (const auto& text : texts) append(ids, text + "|");
  append(ids, asked.text + ">");
  return ids;
}

token_id scripted_model::next_after(const std::vector<token_id>& ids,
                                    std::int64_t prompt_tokens) const {
  if (static_cast<std::int64_t>(ids.size()) - prompt_tokens
      >= options_.answer_tokens)
    return end_id;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto id : ids)
    hash = (hash ^ static_cast<std::uint64_t>(id)) * 0x100000001b3;
  return static_cast<token_id>('a' + hash % 26);
}

std::string scripted_model::expected_answer(const std::vector<token_id>& prompt,
                                            std::int64_t max_new_tokens) const {
  auto ids = prompt;
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < max_new_tokens) {
    const auto id = next_after(ids, static_cast<std::int64_t>(prompt.size()));
    if (id == end_id) break;
    text += static_cast<char>(id);
    ids.push_back(id);
  }
  return text;
}

result<engine::prompt>
scripted_model::build_prompt(const question& asked,
                             std::span<const passage* const> passages) const {
  engine::prompt made;
  made.segments.push_back({engine::segment_role::opening, 0, {'<'}});
  for (const auto* one : passages) {
    engine::prompt_segment segment{
        engine::segment_role::passage, one->index, {}};
    append(segment.ids, one->text + "|");
    made.segments.push_back(std::move(segment));
  }
  engine::prompt_segment closing{engine::segment_role::closing, 0, {}};
  append(closing.ids, asked.text + ">");
  made.segments.push_back(std::move(closing));
  return made;
}

result<std::vector<token_id>>
scripted_model::encode(const std::string& text) const {
  std::vector<token_id> ids;
  append(ids, text);
  return ids;
}

std::unique_ptr<actors::token_chooser>
scripted_model::new_chooser(const engine::sampling_options&,
                            const std::string&) const {
  return std::make_unique<greedy_chooser>();
}

std::unique_ptr<actors::answer_text>
scripted_model::new_answer(std::int64_t max_new_tokens,
                           const std::vector<std::string>& stop) const {
  return std::make_unique<scripted_answer>(max_new_tokens, stop);
}

std::vector<std::pair<token_id, float>>
scripted_model::largest(std::span<const float> logits, std::size_t n) const {
  std::vector<std::pair<token_id, float>> all;
  for (std::size_t i = 0; i < logits.size(); ++i)
    all.emplace_back(static_cast<token_id>(i), logits[i]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  all.resize(std::min(n, all.size()));
  return all;
}

result<std::unique_ptr<actors::generation>>
scripted_model::start(std::int64_t capacity) {
  const call_guard guard(*this);
  return std::make_unique<scripted_generation>(live_generations, capacity);
}

result<std::vector<float>>
scripted_model::extend(actors::generation& into, std::span<const token_id> ids,
                       bool want_logits, const std::atomic<bool>* stop) {
  const call_guard guard(*this);
  auto& kv = static_cast<scripted_generation&>(into);
  const auto end = std::chrono::steady_clock::now() + options_.prefill_time;
  while (want_logits && std::chrono::steady_clock::now() < end) {
    if (stop != nullptr && stop->load())
      return fail(errc::cancelled, "prefill was cancelled");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  kv.ids.insert(kv.ids.end(), ids.begin(), ids.end());
  kv.prompt_tokens = kv.length();
  if (kv.length() > kv.capacity)
    return fail(errc::bad_input, "more tokens than were reserved");
  if (!want_logits) return std::vector<float>{};
  ++prefills;
  if (options_.on_prefill)
    if (auto done = options_.on_prefill(kv.ids); !done) return pass_on(done);
  return logits_for(next_after(kv.ids, kv.prompt_tokens));
}

result<std::span<const float>>
scripted_model::step(std::span<actors::generation* const> rows,
                     std::span<const token_id> ids) {
  const call_guard guard(*this);
  ++steps;
  largest_batch = std::max<std::int64_t>(
      largest_batch, static_cast<std::int64_t>(rows.size()));
  if (options_.step_time.count() > 0)
    std::this_thread::sleep_for(options_.step_time);
  logits_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& kv = static_cast<scripted_generation&>(*rows[i]);
    kv.ids.push_back(ids[i]);
    if (kv.length() > kv.capacity)
      return fail(errc::bad_input, "more tokens than were reserved");
    if (options_.on_step)
      if (auto done = options_.on_step(kv.ids); !done) return pass_on(done);
    const auto row = logits_for(next_after(kv.ids, kv.prompt_tokens));
    logits_.insert(logits_.end(), row.begin(), row.end());
  }
  return std::span<const float>(logits_);
}

void gate::open() {
  const std::lock_guard hold(lock_);
  open_ = true;
  changed_.notify_all();
}

void gate::wait() {
  std::unique_lock hold(lock_);
  changed_.wait(hold, [this] { return open_; });
}

} // namespace kvloom::test
