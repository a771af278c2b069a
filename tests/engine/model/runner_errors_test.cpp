// What a runner refuses, and in which words.
#include "engine/model/model_runner.hpp"
#include "golden_model.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

using testing::HasSubstr;

class runner_errors : public testing::Test {
protected:
  static std::shared_ptr<model_runner> load(const edit_values& edit = {}) {
    const scratch_folder folder("errors");
    write_model(golden("llama_plain"), folder.path(), edit);
    auto made = model_runner::load(
        folder.path(), {precision::f32, decode_weights::same, 2, 16});
    EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
    return made ? *made : nullptr;
  }

  std::shared_ptr<model_runner> runner_ = load();
  const std::vector<token_id> ids_ = {5, 6, 7};
};

TEST_F(runner_errors, ids_outside_the_vocabulary) {
  auto one = runner_->start(16);
  ASSERT_TRUE(one);
  for (const token_id bad : {-1, 96, std::numeric_limits<token_id>::max()}) {
    const std::vector<token_id> ids = {5, bad};
    const auto got = runner_->extend(*one, ids);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::bad_input);
    EXPECT_THAT(got.error().message, HasSubstr(std::to_string(bad)));
    sequence* const p = &*one;
    EXPECT_FALSE(runner_->step({&p, 1}, {&bad, 1}));
  }
  EXPECT_EQ(one->length(), 0);
  EXPECT_TRUE(runner_->extend(*one, ids_)); // a refusal does no harm
}

TEST_F(runner_errors, more_tokens_than_the_context_or_the_capacity) {
  for (const std::int64_t capacity : {-1L, 0L, 257L, 1L << 50}) {
    const auto got = runner_->start(capacity);
    ASSERT_FALSE(got) << capacity;
    EXPECT_EQ(got.error().code, errc::bad_input);
    EXPECT_THAT(got.error().message, HasSubstr("256"));
  }
  auto one = runner_->start(4);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->capacity(), 4);
  ASSERT_TRUE(runner_->extend(*one, ids_));
  const auto over = runner_->extend(*one, ids_);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, errc::bad_input);
  sequence* const p = &*one;
  const token_id id = 1;
  EXPECT_TRUE(runner_->step({&p, 1}, {&id, 1}));
  EXPECT_FALSE(runner_->step({&p, 1}, {&id, 1}));
  EXPECT_EQ(one->length(), 4);
}

TEST_F(runner_errors, no_ids_are_no_work) {
  auto one = runner_->start(4);
  ASSERT_TRUE(one);
  const auto nothing = runner_->extend(*one, {});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->empty());
  const auto unwanted = runner_->extend(*one, ids_, false);
  ASSERT_TRUE(unwanted);
  EXPECT_TRUE(unwanted->empty());
  EXPECT_EQ(one->length(), 3);
  const auto step = runner_->step({}, {});
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->empty());
}

TEST_F(runner_errors, kv_without_logits_serves_the_next_row) {
  auto a = runner_->start(8);
  auto b = runner_->start(8);
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(runner_->extend(*a, ids_, false));
  ASSERT_TRUE(runner_->extend(*b, ids_, true));
  const std::vector<token_id> next = {9};
  EXPECT_EQ(*runner_->extend(*a, next), *runner_->extend(*b, next));
}

TEST_F(runner_errors, a_stopped_prefill_leaves_the_sequence_unusable) {
  auto one = runner_->start(200);
  ASSERT_TRUE(one);
  const std::atomic<bool> stop = true;
  const auto got = runner_->extend(*one, ids_, true, &stop);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
  EXPECT_FALSE(runner_->extend(*one, ids_));
  sequence* const p = &*one;
  const token_id id = 1;
  EXPECT_FALSE(runner_->step({&p, 1}, {&id, 1}));
  auto other = runner_->start(8); // the runner goes on
  ASSERT_TRUE(other);
  EXPECT_TRUE(runner_->extend(*other, ids_));
}

TEST_F(runner_errors, sequences_of_others_and_repeated_ones) {
  const auto other = load();
  auto foreign = other->start(8);
  auto own = runner_->start(8);
  ASSERT_TRUE(foreign && own);
  EXPECT_FALSE(runner_->extend(*foreign, ids_));
  ASSERT_TRUE(runner_->extend(*own, ids_));
  const std::vector<sequence*> twice = {&*own, &*own};
  const std::vector<token_id> ids = {1, 2};
  EXPECT_FALSE(runner_->step(twice, ids));
  const std::vector<sequence*> null = {nullptr, &*own};
  EXPECT_FALSE(runner_->step(null, ids));
  const std::vector<sequence*> one = {&*own};
  EXPECT_FALSE(runner_->step(one, ids));
  EXPECT_EQ(own->length(), 3);
  const sequence moved = std::move(*own);
  EXPECT_FALSE(runner_->extend(*own, ids_)); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(own->length(), 0);
  EXPECT_EQ(moved.length(), 3);
}

TEST_F(runner_errors, nan_is_never_silent) {
  const auto broken
      = load([](const std::string& name, std::vector<float>& values) {
          if (name == "model.layers.1.mlp.down_proj.weight")
            values[7] = std::numeric_limits<float>::quiet_NaN();
        });
  auto one = broken->start(64);
  ASSERT_TRUE(one);
  const auto got = broken->extend(*one, ids_);
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("NaN"));
  auto two = broken->start(64);
  ASSERT_TRUE(two);
  sequence* const p = &*two;
  const token_id id = 1;
  EXPECT_FALSE(broken->step({&p, 1}, {&id, 1}));
}

TEST_F(runner_errors, options_out_of_range) {
  const scratch_folder folder("options");
  write_model(golden("llama_plain"), folder.path());
  const auto refuse = [&](const runner_options& options) {
    const auto got = model_runner::load(folder.path(), options);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::bad_input);
  };
  refuse({precision::f32, decode_weights::same, -1, 16});
  refuse({precision::f32, decode_weights::same, 1, 0});
  refuse({precision::f32, decode_weights::quantised, 1, 16});
  EXPECT_FALSE(model_runner::load(folder.path() / "absent", {}));
}

TEST(runner_head_size, without_kernels_is_refused_before_the_weights) {
  for (const std::int64_t size : {8, 24, 272}) {
    const test_support::temp_folder folder;
    test_support::write_hf_folder(
        test_support::make_tiny_model({.head_dim = size}), folder.path());
    const auto made = model_runner::load(
        folder.path(), {precision::f32, decode_weights::same, 1, 16});
    ASSERT_FALSE(made) << size;
    EXPECT_EQ(made.error().code, errc::bad_input);
    EXPECT_THAT(made.error().message,
                HasSubstr("head size is " + std::to_string(size)));
  }
}

} // namespace
} // namespace kvloom::engine
