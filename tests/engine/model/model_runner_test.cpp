#include "engine/model/model_runner.hpp"
#include "golden_model.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvloom::engine {
namespace {

using ids_view = std::span<const token_id>;

/// A golden model on disk and its runner.
struct loaded {
  scratch_folder folder;
  std::shared_ptr<model_runner> runner;

  explicit loaded(const golden_model& model, const runner_options& options)
      : folder(model.name) {
    write_model(model, folder.path());
    auto made = model_runner::load(folder.path(), options);
    EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
    if (made) runner = *made;
  }
};

runner_options f32_options(std::int64_t prefill_rows = 512, int threads = 0) {
  return {precision::f32, decode_weights::same, threads, prefill_rows};
}

sequence started(model_runner& runner, std::int64_t capacity) {
  auto made = runner.start(capacity);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return std::move(*made);
}

std::vector<float> extended(model_runner& runner, sequence& into,
                            ids_view ids) {
  auto logits = runner.extend(into, ids);
  if (!logits) throw std::runtime_error(to_string(logits.error()));
  return *logits;
}

std::vector<float> stepped(model_runner& runner, sequence& into, token_id id) {
  sequence* const one = &into;
  auto logits = runner.step({&one, 1}, {&id, 1});
  if (!logits) throw std::runtime_error(to_string(logits.error()));
  return {logits->begin(), logits->end()};
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference; // keeps a NaN
  }
  return largest;
}

std::int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  in >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class families : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const golden_model& one : golden_models()) all.push_back(one.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(golden, families, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

TEST_P(families, logits_equal_hugging_face_in_f32) {
  const golden_model& model = golden(GetParam());
  const loaded at(model, f32_options());
  ASSERT_TRUE(at.runner);
  sequence parts = started(*at.runner, 256);
  std::size_t done = 0;
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    const std::size_t end = model.rows[i] + 1;
    const auto logits = extended(*at.runner, parts,
                                 ids_view(model.ids).subspan(done, end - done));
    done = end;
    EXPECT_LE(largest_difference(logits, model.logits[i]), 1e-4)
        << "row " << model.rows[i];
  }
  EXPECT_EQ(parts.length(), static_cast<std::int64_t>(done));
}

TEST_P(families, single_steps_equal_hugging_face_in_f32) {
  const golden_model& model = golden(GetParam());
  const loaded at(model, f32_options());
  ASSERT_TRUE(at.runner);
  sequence one = started(*at.runner, 256);
  std::size_t next = 0;
  for (std::size_t i = 0; i < model.ids.size(); ++i) {
    const auto logits = stepped(*at.runner, one, model.ids[i]);
    if (next < model.rows.size() && model.rows[next] == i) {
      EXPECT_LE(largest_difference(logits, model.logits[next++]), 1e-4)
          << "row " << i;
    }
  }
  EXPECT_EQ(next, model.rows.size());
}

TEST_P(families, blocks_of_any_size_agree) {
  const golden_model& model = golden(GetParam());
  std::vector<std::vector<float>> last;
  for (const std::int64_t rows : {1, 7, 512}) {
    const loaded at(model, f32_options(rows));
    ASSERT_TRUE(at.runner);
    sequence one = started(*at.runner, 256);
    last.push_back(extended(*at.runner, one, model.ids));
  }
  EXPECT_LE(largest_difference(last[0], last[2]), 1e-4);
  EXPECT_LE(largest_difference(last[1], last[2]), 1e-4);
}

TEST_P(families, bf16_is_close_to_f32) {
  const golden_model& model = golden(GetParam());
  runner_options options;
  options.compute = precision::bf16;
  const loaded narrow(model, options);
  const loaded wide(model, f32_options());
  ASSERT_TRUE(narrow.runner && wide.runner);
  sequence a = started(*narrow.runner, 256);
  sequence b = started(*wide.runner, 256);
  const auto logits = extended(*wide.runner, b, model.ids);
  const float largest
      = std::abs(*std::max_element(logits.begin(), logits.end()));
  EXPECT_LE(largest_difference(extended(*narrow.runner, a, model.ids), logits),
            0.05F * largest);
  EXPECT_EQ(a.bytes() * 2, b.bytes());
}

TEST_P(families, thread_count_does_not_change_a_bit) {
  const golden_model& model = golden(GetParam());
  for (const precision compute : {precision::f32, precision::bf16}) {
    std::vector<std::vector<float>> seen;
    for (const int threads : {1, 2, 4}) {
      runner_options options = f32_options(32, threads);
      options.compute = compute;
      const loaded at(model, options);
      ASSERT_TRUE(at.runner);
      EXPECT_EQ(at.runner->options().threads, threads);
      sequence one = started(*at.runner, 256);
      auto logits = extended(*at.runner, one, model.ids);
      const auto more = stepped(*at.runner, one, 5);
      logits.insert(logits.end(), more.begin(), more.end());
      seen.push_back(std::move(logits));
    }
    EXPECT_EQ(seen[0], seen[1]) << to_string(compute);
    EXPECT_EQ(seen[0], seen[2]) << to_string(compute);
  }
}

TEST_P(families, a_batch_step_equals_single_steps_bit_for_bit) {
  const golden_model& model = golden(GetParam());
  for (const precision compute : {precision::f32, precision::bf16}) {
    runner_options options = f32_options();
    options.compute = compute;
    const loaded at(model, options);
    ASSERT_TRUE(at.runner);
    const std::vector<std::size_t> lengths = {1, 3, 8, 2, 7, 5, 4, 6, 8, 1};
    std::vector<sequence> alone;
    std::vector<sequence> together;
    std::vector<sequence*> batch;
    for (const std::size_t n : lengths) {
      const auto ids = ids_view(model.ids).first(n);
      for (auto* list : {&alone, &together}) {
        list->push_back(started(*at.runner, 32));
        extended(*at.runner, list->back(), ids);
      }
    }
    for (sequence& one : together) batch.push_back(&one);
    for (token_id round = 0; round < 3; ++round) {
      std::vector<token_id> ids;
      std::vector<float> singles;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        ids.push_back(static_cast<token_id>((i * 13 + 7) % 96) + round);
        const auto one = stepped(*at.runner, alone[i], ids.back() % 96);
        singles.insert(singles.end(), one.begin(), one.end());
        ids.back() %= 96;
      }
      const auto all = at.runner->step(batch, ids);
      ASSERT_TRUE(all);
      EXPECT_EQ(std::vector<float>(all->begin(), all->end()), singles);
    }
  }
}

TEST(model_runner, extend_then_steps_equals_one_extend) {
  const golden_model& model = golden("llama_llama3");
  const loaded at(model, f32_options());
  ASSERT_TRUE(at.runner);
  sequence whole = started(*at.runner, 256);
  sequence parts = started(*at.runner, 256);
  const auto expected = extended(*at.runner, whole, model.ids);
  extended(*at.runner, parts, ids_view(model.ids).first(195));
  std::vector<float> last;
  for (std::size_t i = 195; i < model.ids.size(); ++i)
    last = stepped(*at.runner, parts, model.ids[i]);
  EXPECT_LE(largest_difference(last, expected), 1e-4);
}

// huggingface/transformers#37574: the cache goes wrong from the moment that
// the length reaches the window.
TEST(model_runner, steps_across_the_edge_of_the_window) {
  const golden_model& model = golden("mistral_window_8");
  const loaded at(model, f32_options());
  ASSERT_TRUE(at.runner);
  EXPECT_EQ(at.runner->config().window[0], 8);
  sequence one = started(*at.runner, 64);
  auto logits = extended(*at.runner, one, ids_view(model.ids).first(6));
  for (std::size_t row = 5; row <= 10; ++row) {
    const auto at_row = std::find(model.rows.begin(), model.rows.end(), row)
                        - model.rows.begin();
    EXPECT_LE(largest_difference(
                  logits, model.logits[static_cast<std::size_t>(at_row)]),
              1e-4)
        << "row " << row;
    logits = stepped(*at.runner, one, model.ids[row + 1]);
  }
}

TEST(model_runner, two_hundred_sequences_leave_memory_flat) {
  const golden_model& model = golden("llama_plain");
  const loaded at(model, f32_options());
  ASSERT_TRUE(at.runner);
  std::int64_t before = 0;
  for (int i = 0; i < 220; ++i) {
    if (i == 20) before = resident_bytes();
    sequence one = started(*at.runner, 256);
    extended(*at.runner, one, model.ids);
    stepped(*at.runner, one, 3);
  }
  // One sequence holds 384 KiB, 60 tokens of it touched.
  EXPECT_LE(resident_bytes() - before, 4 << 20);
}

TEST(model_runner, accounts_its_weights) {
  const golden_model& model = golden("llama_plain");
  std::int64_t n = 0;
  for (const auto& tensor : model.tensors) {
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    n += size;
  }
  const loaded wide(model, f32_options());
  ASSERT_TRUE(wide.runner);
  EXPECT_GE(wide.runner->weight_bytes(), n * 4);
  EXPECT_LE(wide.runner->weight_bytes(), n * 8);
  EXPECT_EQ(wide.runner->digest().size(), 64U);
}

} // namespace
} // namespace kvloom::engine
