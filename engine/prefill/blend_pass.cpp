#include "engine/prefill/blend_pass.hpp"

#include "core/base/clock.hpp"
#include "engine/segments/dense_kv.hpp"
#include "kernels/api/elementwise.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace kvloom::engine {

namespace {

std::vector<std::int64_t> joined(std::span<const std::int64_t> a,
                                 std::span<const std::int64_t> b) {
  std::vector<std::int64_t> all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

row_positions share(const std::vector<std::int64_t>& positions) {
  return std::make_shared<const std::vector<std::int64_t>>(positions);
}

double squared_distance(const float* a, const float* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return sum;
}

} // namespace

std::vector<placed_chunk> placed_chunks(const prefill_plan& plan) {
  std::vector<placed_chunk> all;
  std::int64_t at = 0;
  for (const auto& piece : plan.context) {
    if (piece.kv && !piece.ids.empty()) all.push_back({piece.kv, at});
    at += std::ssize(piece.ids);
  }
  return all;
}

blend_pass::blend_pass(const model_config& config, const rotation& turn,
                       dtype kv_type, forward_pass& pass,
                       const prefill_plan& plan)
    : config_(config), turn_(turn), kv_type_(kv_type), pass_(pass),
      plan_(plan) {
  for (const auto& piece : plan.context) {
    const auto n = std::ssize(piece.ids);
    ids_.insert(ids_.end(), piece.ids.begin(), piece.ids.end());
    auto* rows = !piece.kv ? &missed_ : piece.repairable ? &reused_ : nullptr;
    if (rows == nullptr) exact_rows_ += n;
    if (rows == &reused_ && n > 0)
      candidates_.push_back({n_context_, piece.ids});
    for (std::int64_t i = 0; rows != nullptr && i < n; ++i)
      rows->push_back(n_context_ + i);
    n_context_ += n;
  }
  ids_.insert(ids_.end(), plan.question.begin(), plan.question.end());
  if (plan.blend.rule != selector::none)
    forced_ = first_rows(candidates_, plan.blend.forced_head);
}

std::int64_t blend_pass::seen_keys(std::int64_t row, std::int64_t layer) const {
  const std::int64_t all = seen_[static_cast<std::size_t>(row)] + 1;
  const std::int64_t window = config_.window[static_cast<std::size_t>(layer)];
  return window == 0 ? all : std::min(all, window);
}

double blend_pass::whole_operations() const {
  const auto hidden = static_cast<double>(config_.hidden_size);
  const auto q = static_cast<double>(config_.n_q_heads * config_.head_dim);
  const auto kv = static_cast<double>(config_.n_kv_heads * config_.head_dim);
  const auto mlp = static_cast<double>(config_.intermediate_size);
  const auto total = std::ssize(ids_);
  double sum = 0;
  for (std::int64_t l = 0; l < config_.n_layers; ++l) {
    sum += 2 * static_cast<double>(total) * hidden * (q + 2 * kv);
    const std::int64_t window = config_.window[static_cast<std::size_t>(l)];
    for (std::int64_t p = l + 1 == config_.n_layers ? total - 1 : 0; p < total;
         ++p)
      sum += 2 * q * hidden + 6 * hidden * mlp
             + 4 * q
                   * static_cast<double>(window == 0 ? p + 1
                                                     : std::min(p + 1, window));
  }
  return sum;
}

std::vector<double>
blend_pass::deviations(std::span<const std::int64_t> in_flow,
                       const request_kv& kv, std::int64_t layer) const {
  const auto rule = plan_.blend.rule;
  const bool keys = rule == selector::hkvd_k || rule == selector::hkvd_kv;
  const bool values = rule != selector::hkvd_k;
  const std::int64_t width = config_.n_kv_heads * config_.head_dim;
  const auto fresh = pass_.kv();
  std::vector<double> out;
  out.reserve(in_flow.size());
  // Rounded as the stored rows are: what is equal has no deviation.
  std::vector<std::byte> narrow(
      static_cast<std::size_t>(width * block_bytes(kv_type_)));
  std::vector<float> rounded(static_cast<std::size_t>(width));
  const auto distance = [&](const float* row, const float* stored) {
    kernels::narrow(width, row, kv_type_, narrow.data());
    kernels::widen(width, kv_type_, narrow.data(), rounded.data());
    return squared_distance(rounded.data(), stored, width);
  };
  const auto* row = pass_.positions();
  auto at = in_flow.begin();
  for (const auto& placed : kv.chunks()) {
    if (at == in_flow.end()) break;
    if (*at >= placed.end() || *at < placed.start) continue;
    const auto stored = read_dense(placed, layer, turn_, keys);
    for (; at != in_flow.end() && *at < placed.end(); ++at) {
      while (*row != *at) ++row;
      const std::int64_t from = (row - pass_.positions()) * fresh.row_stride;
      const std::int64_t to = (*at - placed.start) * width;
      double sum = 0;
      if (values) sum += distance(fresh.v + from, stored.v.data() + to);
      if (keys) sum += distance(fresh.k + from, stored.k.data() + to);
      out.push_back(sum);
    }
  }
  return out;
}

/// Chooses what stays: `rows` become the places of the rows that do.
void blend_pass::filter(flow& now, const request_kv& kv, std::int64_t layer,
                        double ratio, std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> in_flow;
  std::set_intersection(now.context.begin(), now.context.end(), reused_.begin(),
                        reused_.end(), std::back_inserter(in_flow));
  std::vector<double> scores(in_flow.size(), 1.0);
  if (compares_kv(plan_.blend.rule)) scores = deviations(in_flow, kv, layer);
  if (!scores_.empty()) {
    std::size_t i = 0;
    for (std::size_t s = 0; s < in_flow.size(); ++s) {
      while (reused_[i] != in_flow[s]) ++i;
      scores[s] *= scores_[i];
    }
  }
  const auto chosen = largest_scores(
      in_flow, scores, wanted_rows(ratio, std::ssize(reused_)), forced_);
  auto staying = joined(chosen, missed_);
  rows.clear();
  for (std::size_t i = 0, s = 0; s < staying.size(); ++i)
    if (now.context[i] == staying[s]) {
      rows.push_back(static_cast<std::int64_t>(i));
      ++s;
    }
  for (auto i = std::ssize(now.context); i < pass_.n_rows(); ++i)
    rows.push_back(i);
  now.context = std::move(staying);
  now.shared = share(now.context);
}

result<void> blend_pass::make_patch(const flow& now, request_kv& kv,
                                    std::int64_t layer) {
  return kv.patch(layer, config_.n_kv_heads, config_.head_dim, kv_type_,
                  now.shared);
}

void blend_pass::write_patch(request_kv& kv, std::int64_t layer) {
  const auto fresh = pass_.kv();
  auto& rows = kv.patch_rows(layer);
  if (rows.size() > 0)
    rows.write(0, rows.size(), fresh.k, fresh.v, fresh.row_stride);
}

void blend_pass::attend(const flow& now, request_kv& kv, std::int64_t layer) {
  scratch_.segments.clear();
  kv.segments(layer, 0, std::ssize(plan_.question), scratch_.segments);
  pass_.attend(layer, 0, pass_.n_rows(), seen_.data(), scratch_.segments,
               scratch_);
  if (now.mass != nullptr
      && (!now.last_layer_only || layer + 1 == config_.n_layers))
    take_mass(now, layer);
}

void blend_pass::take_mass(const flow& now, std::int64_t layer) {
  const auto n_question = std::ssize(plan_.question);
  const auto first = pass_.n_rows() - n_question;
  std::vector<double> mass(static_cast<std::size_t>(n_context_)), part;
  const auto segments = scratch_.segments; // the scratch is used below
  for (const auto& segment : segments) {
    const auto& keys = segment.keys;
    if (keys.positions == nullptr && keys.first_position >= n_context_)
      continue; // the tail
    part.assign(static_cast<std::size_t>(keys.n_keys), 0);
    pass_.add_mass(layer, first, n_question, segment, scratch_, part.data());
    for (std::int64_t j = 0; j < keys.n_keys; ++j)
      mass[static_cast<std::size_t>(keys.positions != nullptr
                                        ? keys.positions[j]
                                        : keys.first_position + j)]
          += part[static_cast<std::size_t>(j)];
    operations_ += 2.0 * static_cast<double>(n_question * keys.n_keys)
                   * static_cast<double>(config_.n_q_heads * config_.head_dim);
  }
  const double sum = now.last_layer_only
                         ? 1.0
                         : std::accumulate(mass.begin(), mass.end(), 0.0);
  if (sum <= 0) return;
  for (std::size_t p = 0; p < mass.size(); ++p) (*now.mass)[p] += mass[p] / sum;
}

result<void> blend_pass::through(flow& now, request_kv& kv,
                                 const std::atomic<bool>* stop) {
  const auto total = std::ssize(ids_);
  const auto n_question = std::ssize(plan_.question);
  std::vector<std::int64_t> positions = now.context, rows;
  for (auto p = n_context_; p < total; ++p) positions.push_back(p);
  std::vector<token_id> ids;
  for (const auto p : positions)
    ids.push_back(ids_[static_cast<std::size_t>(p)]);
  now.shared = share(now.context);
  pass_.begin(ids, positions);
  auto stage = now.stages.begin();
  const auto hidden = static_cast<double>(config_.hidden_size);
  const auto q = static_cast<double>(config_.n_q_heads * config_.head_dim);
  const auto kv_width
      = static_cast<double>(config_.n_kv_heads * config_.head_dim);
  for (std::int64_t l = 0; l < config_.n_layers; ++l) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed))
      return fail(errc::cancelled,
                  "the prefill was stopped in layer " + std::to_string(l));
    pass_.project(l, pass_kind::prefill);
    operations_ += 2 * static_cast<double>(pass_.n_rows()) * hidden
                   * (q + 2 * kv_width);
    const auto fresh = pass_.kv();
    const std::int64_t at = std::ssize(now.context) * fresh.row_stride;
    kv.tail().write(l, 0, n_question, fresh.k + at, fresh.v + at,
                    fresh.row_stride);
    const bool checks = stage != now.stages.end() && stage->layer == l;
    if (!checks || plan_.blend.check_layer_fresh) {
      if (auto made = make_patch(now, kv, l); !made) return made;
      write_patch(kv, l);
    }
    if (checks) {
      filter(now, kv, l, stage->ratio, rows);
      pass_.keep(rows);
      now.chosen_ns = now_ns();
      ++stage;
      if (!plan_.blend.check_layer_fresh) {
        if (auto made = make_patch(now, kv, l); !made) return made;
        write_patch(kv, l);
      }
    }
    if (l + 1 == config_.n_layers && !now.whole_question) {
      // Behind the last KV only the row whose logits are wanted goes on.
      const std::int64_t last = pass_.n_rows() - 1;
      pass_.keep({&last, 1});
    }
    seen_.assign(pass_.positions(), pass_.positions() + pass_.n_rows());
    if (plan_.blend.mask == context_mask::bottom_right)
      std::iota(seen_.begin(), seen_.end(), total - pass_.n_rows());
    attend(now, kv, l);
    pass_.finish(l, pass_kind::prefill);
    for (std::int64_t r = 0; r < pass_.n_rows(); ++r)
      operations_ += 4 * q * static_cast<double>(seen_keys(r, l));
    operations_
        += static_cast<double>(pass_.n_rows())
           * (2 * q * hidden
              + 6 * hidden * static_cast<double>(config_.intermediate_size));
  }
  return {};
}

result<std::vector<double>>
blend_pass::question_attention(request_kv& kv, bool last_layer_only,
                               const std::atomic<bool>* stop) {
  std::vector<double> mass(static_cast<std::size_t>(n_context_));
  flow now;
  now.context = missed_;
  now.whole_question = true;
  now.mass = &mass;
  now.last_layer_only = last_layer_only;
  if (auto done = through(now, kv, stop); !done) return pass_on(done);
  return mass;
}

result<prefill_outcome> blend_pass::run(request_kv& kv,
                                        std::span<const double> oracle,
                                        const std::atomic<bool>* stop) {
  const auto begin = now_ns();
  const auto& blend = plan_.blend;
  const auto n_reused = std::ssize(reused_);
  auto rule = blend.rule;
  std::span<const check_stage> stages = blend.stages;
  if (rule == selector::none || rule == selector::all) stages = {};
  // What leaves no choice needs no scores.
  const auto wanted
      = stages.empty() ? 0 : wanted_rows(stages.front().ratio, n_reused);
  if (stages.size() == 1 && wanted == n_reused) rule = selector::all;
  if (!stages.empty() && wanted == 0 && forced_.empty()) rule = selector::none;
  flow now;
  bool asked = false;
  if (rule == selector::none || n_reused == 0) {
    now.context = missed_;
  } else if (rule == selector::all) {
    now.context = joined(reused_, missed_);
  } else {
    if (asks_question(rule)) {
      auto mass = question_attention(kv, rule == selector::query_last, stop);
      if (!mass) return pass_on(mass);
      for (const auto p : reused_)
        scores_.push_back((*mass)[static_cast<std::size_t>(p)]);
      asked = true;
    } else if (rule == selector::oracle) {
      scores_.assign(oracle.begin(), oracle.end());
    } else if (!compares_kv(rule)) {
      scores_ = placed_scores(rule, candidates_, plan_.question, blend.seed);
    }
    now.context = joined(reused_, missed_);
    now.stages = stages;
    if (!compares_kv(rule)) {
      const auto chosen = largest_scores(reused_, scores_, wanted, forced_);
      now.context = joined(chosen, missed_);
      now.stages = stages.subspan(1);
    }
  }
  const auto asked_ns = now_ns();
  if (auto done = through(now, kv, stop); !done) return pass_on(done);
  pass_.compute_logits(1, pass_kind::prefill);
  kv.tail().set_length(std::ssize(plan_.question));
  prefill_outcome out;
  out.logits.assign(pass_.logits().begin(), pass_.logits().end());
  out.exact_rows = exact_rows_;
  out.reused_rows = n_reused;
  out.missed_rows = std::ssize(missed_);
  std::set_intersection(now.context.begin(), now.context.end(), reused_.begin(),
                        reused_.end(), std::back_inserter(out.selected));
  out.effective_share = operations_ / whole_operations();
  const auto end = now_ns();
  const auto chosen = now.chosen_ns != 0 ? now.chosen_ns
                      : asked            ? asked_ns
                                         : begin;
  out.select_ns = chosen - begin;
  out.recompute_ns = end - chosen;
  return out;
}

} // namespace kvloom::engine
