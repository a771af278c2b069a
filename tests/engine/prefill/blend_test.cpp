#include "../model/golden_model.hpp"
#include "core/base/random.hpp"
#include "core/base/sha256.hpp"
#include "engine/model/model_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

using ids_list = std::vector<token_id>;
using chunk_list = std::vector<std::shared_ptr<kv_chunk>>;

template <class T>
T good(result<T> made) {
  if (!made) throw std::runtime_error(to_string(made.error()));
  return std::move(*made);
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float d = std::abs(a[i] - b[i]);
    if (!(d <= largest)) largest = d; // keeps a NaN
  }
  return largest;
}

double mean_square(std::span<const float> a) {
  double sum = 0;
  for (const float x : a) sum += static_cast<double>(x) * x;
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& one : golden_models()) all.push_back(one.name);
  return all;
}

/// A tiny model and a prompt of an opening, chunks and a question.
class blending : public testing::TestWithParam<std::string> {
protected:
  blending() : folder_(GetParam() + "-blend") {
    write_model(golden(GetParam()), folder_.path());
    runner_ = good(model_runner::load(
        folder_.path(), {precision::f32, decode_weights::same, 0, 16}));
    opening_ = some_ids(5);
    for (const int n : {7, 9, 1, 6, 8}) texts_.push_back(some_ids(n));
    question_ = some_ids(4);
  }

  ids_list some_ids(int n) {
    ids_list ids(static_cast<std::size_t>(n));
    for (auto& id : ids)
      id = static_cast<token_id>(random_.below(
          static_cast<std::uint64_t>(runner_->config().vocab_size)));
    return ids;
  }

  chunk_list encoded(const std::vector<ids_list>& texts,
                     const kv_lease& prefix) {
    std::vector<std::span<const token_id>> views(texts.begin(), texts.end());
    return good(runner_->encode(views, prefix));
  }

  kv_lease opening_kv() { return encoded({opening_}, nullptr).front(); }

  /// Chunks whose place in `stored` is null are computed.
  prefill_plan plan_of(const kv_lease& opening, const chunk_list& stored,
                       const blend_options& blend) {
    prefill_plan plan;
    plan.context.push_back({opening_, opening, false});
    for (std::size_t i = 0; i < texts_.size(); ++i)
      plan.context.push_back({texts_[i], stored[i], true});
    plan.question = question_;
    plan.blend = blend;
    return plan;
  }

  ids_list prompt() const {
    ids_list all = opening_;
    for (const auto& text : texts_)
      all.insert(all.end(), text.begin(), text.end());
    all.insert(all.end(), question_.begin(), question_.end());
    return all;
  }

  std::int64_t prompt_size() const { return std::ssize(prompt()); }

  std::vector<float> full_logits() {
    auto one = good(runner_->start(prompt_size()));
    return good(runner_->extend(one, prompt()));
  }

  prefill_outcome outcome(const prefill_plan& plan) {
    return good(runner_->prefill(plan, prompt_size())).outcome;
  }

  static blend_options blend(selector rule, double ratio,
                             std::int64_t layer = 1) {
    blend_options options;
    options.rule = rule;
    options.stages = {{layer, ratio}};
    return options;
  }

  random_stream random_{11, "ids"};
  scratch_folder folder_;
  std::shared_ptr<model_runner> runner_;
  ids_list opening_, question_;
  std::vector<ids_list> texts_;
};

constexpr float f32_tolerance = 1e-3F;

TEST_P(blending, ratio_one_is_full_prefill_by_every_rule) {
  const auto full = full_logits();
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  for (const auto name : selector_names()) {
    const auto rule = good(parse_selector(name));
    if (rule == selector::none) continue;
    const auto out = outcome(plan_of(opening, chunks, blend(rule, 1)));
    EXPECT_LE(largest_difference(out.logits, full), f32_tolerance) << name;
    EXPECT_EQ(std::ssize(out.selected), out.reused_rows) << name;
  }
}

TEST_P(blending, a_gradual_plan_that_drops_nothing_is_full_prefill) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  auto options = blend(selector::hkvd_v, 1, 0);
  options.stages.push_back({1, 1});
  const auto out = outcome(plan_of(opening, chunks, options));
  EXPECT_LE(largest_difference(out.logits, full_logits()), f32_tolerance);
  // The opening is stored: all but its five rows are computed.
  EXPECT_GE(out.effective_share, 0.85);
  EXPECT_LT(out.effective_share, 1);
}

TEST_P(blending, decoding_goes_on_over_segments_and_patches) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  auto one = good(runner_->start(prompt_size() + 8));
  auto expected = good(runner_->extend(one, prompt()));
  auto other = good(runner_->prefill(
      plan_of(opening, chunks, blend(selector::hkvd_v, 1)), prompt_size() + 8));
  auto got = other.outcome.logits;
  for (int t = 0; t < 8; ++t) {
    ASSERT_LE(largest_difference(got, expected), f32_tolerance) << t;
    const auto id = static_cast<token_id>(
        std::max_element(expected.begin(), expected.end()) - expected.begin());
    sequence* const both[] = {&one, &other.kv};
    const token_id ids[] = {id, id};
    const auto next = good(runner_->step(both, ids));
    const auto half = next.size() / 2;
    expected.assign(next.begin(),
                    next.begin() + static_cast<std::ptrdiff_t>(half));
    got.assign(next.begin() + static_cast<std::ptrdiff_t>(half), next.end());
  }
}

TEST_P(blending, ratio_zero_computes_only_the_question) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  for (const auto rule : {selector::none, selector::hkvd_v, selector::head_k}) {
    const auto out = outcome(plan_of(opening, chunks, blend(rule, 0)));
    EXPECT_TRUE(out.selected.empty());
    EXPECT_EQ(out.missed_rows, 0);
    EXPECT_EQ(out.exact_rows, 5);
    EXPECT_EQ(out.reused_rows, 31);
    EXPECT_LT(out.effective_share, 0.25);
    EXPECT_GT(out.effective_share, 0);
  }
}

TEST_P(blending, the_first_layer_deviates_nowhere) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  // All scores are zero, so that ties are settled by position.
  const auto out
      = outcome(plan_of(opening, chunks, blend(selector::hkvd_v, 0.2, 0)));
  std::vector<std::int64_t> first(6);
  std::iota(first.begin(), first.end(), 5);
  EXPECT_EQ(out.selected, first);
}

TEST_P(blending, one_chunk_behind_its_prefix_is_exact_at_every_ratio) {
  texts_.resize(1);
  const auto full = full_logits();
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  for (const double ratio : {0.0, 0.15, 0.5, 1.0})
    for (const auto rule : {selector::hkvd_v, selector::hkvd_k,
                            selector::random, selector::query_all})
      EXPECT_LE(
          largest_difference(
              outcome(plan_of(opening, chunks, blend(rule, ratio))).logits,
              full),
          f32_tolerance);
}

TEST_P(blending, kv_of_full_prefill_is_changed_by_no_ratio) {
  const auto full = full_logits();
  const auto opening = opening_kv();
  chunk_list chunks;
  ids_list before = opening_;
  for (const auto& text : texts_) {
    const kv_lease prefix = encoded({before}, nullptr).front();
    chunks.push_back(encoded({text}, prefix).front());
    before.insert(before.end(), text.begin(), text.end());
  }
  for (const double ratio : {0.0, 0.1, 0.3, 0.7, 1.0})
    for (const auto rule :
         {selector::hkvd_kv, selector::tail_k, selector::dev_x_query})
      EXPECT_LE(
          largest_difference(
              outcome(plan_of(opening, chunks, blend(rule, ratio))).logits,
              full),
          f32_tolerance)
          << ratio << ' ' << to_string(rule);
}

TEST_P(blending, every_subset_of_stored_chunks_reuses_that_subset) {
  const auto full = full_logits();
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  for (unsigned subset = 0; subset < 32; ++subset) {
    chunk_list some(texts_.size());
    std::int64_t reused = 0, missed = 0;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const bool stored = ((subset >> i) & 1U) != 0;
      if (stored) some[i] = chunks[i];
      (stored ? reused : missed) += std::ssize(texts_[i]);
    }
    const auto out = outcome(plan_of(opening, some, blend(selector::none, 0)));
    EXPECT_EQ(out.reused_rows, reused);
    EXPECT_EQ(out.missed_rows, missed);
    const auto all
        = outcome(plan_of(opening, some, blend(selector::hkvd_v, 1)));
    EXPECT_LE(largest_difference(all.logits, full), f32_tolerance) << subset;
    if (subset == 0 || subset == 1) { // the first chunk is exact as it stands
      EXPECT_LE(largest_difference(out.logits, full), f32_tolerance);
    }
  }
}

TEST_P(blending, stored_bytes_stay_as_they_are) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  const auto digest = [&] {
    sha256 all;
    for (const auto& chunk : chunks) all.add(std::as_const(*chunk).payload());
    return all.hex();
  };
  const auto before = digest();
  for (const auto name : selector_names())
    outcome(plan_of(opening, chunks, blend(good(parse_selector(name)), 0.4)));
  EXPECT_EQ(digest(), before);
}

TEST_P(blending, chunks_may_repeat_move_and_be_empty) {
  texts_ = {texts_[1], texts_[0], texts_[1], {}, texts_[2]};
  const auto opening = opening_kv();
  auto chunks = encoded(texts_, opening);
  chunks[2] = chunks[0]; // shared by two places
  const auto out
      = outcome(plan_of(opening, chunks, blend(selector::hkvd_v, 1)));
  EXPECT_LE(largest_difference(out.logits, full_logits()), f32_tolerance);
  for (const auto& logit :
       outcome(plan_of(opening, chunks, blend(selector::hkvd_v, 0.3))).logits)
    ASSERT_FALSE(std::isnan(logit));
}

TEST_P(blending, a_prefill_has_the_same_bits_each_time) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  for (const auto rule : {selector::hkvd_v, selector::query_all}) {
    const auto plan = plan_of(opening, chunks, blend(rule, 0.3));
    EXPECT_EQ(outcome(plan).logits, outcome(plan).logits);
  }
}

TEST_P(blending, a_stale_check_layer_still_ends_at_full_prefill) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  auto options = blend(selector::hkvd_k, 0.4);
  options.check_layer_fresh = false;
  const auto stale = outcome(plan_of(opening, chunks, options));
  options.check_layer_fresh = true;
  const auto fresh = outcome(plan_of(opening, chunks, options));
  EXPECT_EQ(stale.selected, fresh.selected);
  EXPECT_NE(stale.logits, fresh.logits);
}

TEST_P(blending, forced_heads_come_first_and_count) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  auto options = blend(selector::hkvd_v, 0.4);
  options.forced_head = 2;
  const auto out = outcome(plan_of(opening, chunks, options));
  EXPECT_EQ(std::ssize(out.selected), 12); // round(0.4 * 31)
  for (const std::int64_t start : {5, 12, 21, 22, 28})
    EXPECT_TRUE(
        std::binary_search(out.selected.begin(), out.selected.end(), start))
        << start;
}

TEST_P(blending, comparison_finds_no_error_in_full_prefill) {
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  const auto plan = plan_of(opening, chunks, blend(selector::all, 1));
  auto made = good(runner_->prefill(plan, prompt_size() + 4));
  const auto same
      = good(runner_->compare(plan, made.kv, made.outcome.logits, 4));
  EXPECT_LE(same.kl, 1e-6);
  EXPECT_NEAR(same.delta_nll, 0, 1e-4);
  EXPECT_EQ(same.agreement, same.n_tokens);
  for (const auto& layer : same.layers) {
    EXPECT_LE(layer.k, 1e-5);
    EXPECT_LE(layer.v, 1e-5);
  }
  const auto reuse = plan_of(opening, chunks, blend(selector::none, 0));
  auto bare = good(runner_->prefill(reuse, prompt_size() + 4));
  const auto error
      = good(runner_->compare(reuse, bare.kv, bare.outcome.logits, 4));
  EXPECT_LE(error.layers.front().v, 1e-6); // layer 0 depends on tokens only
  EXPECT_GT(error.layers.back().v, 1e-3);
  EXPECT_GT(error.kl, 0);
  EXPECT_EQ(bare.kv.length(), prompt_size()); // as it was
}

TEST_P(blending, the_published_mask_differs_from_the_exact_one) {
  if (GetParam() == "mistral_window_4")
    GTEST_SKIP() << "its last row sees no repaired row in any layer";
  const auto opening = opening_kv();
  const auto chunks = encoded(texts_, opening);
  auto options = blend(selector::hkvd_v, 0.4);
  const auto exact = outcome(plan_of(opening, chunks, options));
  options.mask = context_mask::bottom_right;
  const auto published = outcome(plan_of(opening, chunks, options));
  EXPECT_EQ(exact.selected, published.selected);
  EXPECT_GT(largest_difference(exact.logits, published.logits),
            1e-5F * static_cast<float>(mean_square(exact.logits)));
}

INSTANTIATE_TEST_SUITE_P(golden, blending, testing::ValuesIn(names()),
                         [](const auto& which) {
                           auto name = which.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return std::isalnum(c) == 0; },
                               '_');
                           return name;
                         });

} // namespace
} // namespace kvloom::engine
