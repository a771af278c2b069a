#include "cli/command.hpp"
#include "cli/output.hpp"
#include "configs/read/scalar.hpp"
#include "datasets/read/file_bytes.hpp"
#include "storage/policy/eviction_policy.hpp"
#include "storage/simulate/offline_bound.hpp"
#include "storage/simulate/read_trace.hpp"
#include "storage/simulate/simulate.hpp"
#include "storage/simulate/zipf_trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvloom::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t most_trace_bytes = std::uint64_t{4} << 30U;

/// What the options say.
struct plan {
  std::vector<std::int64_t> capacities_bytes;
  std::vector<std::string> policies;
  storage::chunk_costs costs;
  std::uint64_t look_ahead = 0;
  std::uint64_t seed = 0;
};

struct policy_outcome {
  std::string policy;
  storage::simulation_result result;
};

struct capacity_outcome {
  std::int64_t capacity_bytes = 0;
  storage::offline_bound bound;
  std::vector<policy_outcome> policies;
};

/// An error of one option, in the words of its reader.
error of_option(std::string_view option, const std::string& problem) {
  return {errc::bad_input, problem, std::string(option)};
}

result<configs::param_value> read_option(std::string_view option,
                                         configs::param_type type,
                                         std::string_view text, double least,
                                         double most) {
  configs::param_spec spec;
  spec.type = type;
  spec.least = least;
  spec.most = most;
  auto value = configs::read_scalar(spec, text, false);
  if (!value) return tl::unexpected<error>(of_option(option, value.error()));
  return *value;
}

result<std::int64_t> read_count(std::string_view option, std::string_view text,
                                double most) {
  auto value = read_option(option, configs::param_type::integer, text, 0, most);
  if (!value) return pass_on(value);
  return std::get<std::int64_t>(*value);
}

result<std::int64_t> read_size(std::string_view option, std::string_view text,
                               double most) {
  auto value = read_option(option, configs::param_type::bytes, text, 1, most);
  if (!value) return pass_on(value);
  return std::get<std::int64_t>(*value);
}

result<double> read_real(std::string_view option, std::string_view text,
                         double least, double most) {
  auto value
      = read_option(option, configs::param_type::real, text, least, most);
  if (!value) return pass_on(value);
  return std::get<double>(*value);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// `all` is every policy once: look_ahead alone is another's other name, and
/// without a queue those that look ahead are as those that don't.
std::vector<std::string> all_policies(std::uint64_t look_ahead) {
  std::vector<std::string> names;
  for (const auto name : storage::eviction_policy_names()) {
    const bool looks = name.starts_with("look_ahead");
    if (name != "look_ahead" && (look_ahead > 0 || !looks))
      names.emplace_back(name);
  }
  return names;
}

result<std::vector<std::string>> read_policies(std::string_view text,
                                               std::uint64_t look_ahead) {
  if (text == "all") return all_policies(look_ahead);
  std::vector<std::string> names;
  for (const auto name : split(text)) {
    auto made = storage::make_eviction_policy(name);
    if (!made) {
      return tl::unexpected<error>(
          of_option("--policy", made.error().message + ", or all"));
    }
    names.emplace_back(name);
  }
  return names;
}

result<plan> read_plan(const simulate_options& options) {
  constexpr double most_bytes = 1152921504606846976.0; // 1 EiB
  constexpr double most_a_token = 1 << 30;
  constexpr double most_count = 4e9;
  plan out;
  for (const auto text : split(options.capacities)) {
    const auto size = read_size("--capacity", text, most_bytes);
    if (!size) return tl::unexpected<error>(size.error());
    out.capacities_bytes.push_back(*size);
  }
  const auto bytes
      = read_size("--bytes-per-token", options.bytes_per_token, most_a_token);
  if (!bytes) return tl::unexpected<error>(bytes.error());
  const auto rate
      = read_real("--prefill-rate", options.prefill_rate, 1e-6, 1e12);
  if (!rate) return tl::unexpected<error>(rate.error());
  const auto quadratic = read_real("--quadratic", options.quadratic, 0, 1e6);
  if (!quadratic) return tl::unexpected<error>(quadratic.error());
  out.costs = {*bytes, *rate, *quadratic};
  const auto ahead = read_count("--look-ahead", options.look_ahead, most_count);
  if (!ahead) return tl::unexpected<error>(ahead.error());
  out.look_ahead = static_cast<std::uint64_t>(*ahead);
  const auto seed = read_count("--seed", options.seed, most_bytes);
  if (!seed) return tl::unexpected<error>(seed.error());
  out.seed = static_cast<std::uint64_t>(*seed);
  auto policies = read_policies(options.policies, out.look_ahead);
  if (!policies) return pass_on(policies);
  out.policies = std::move(*policies);
  return out;
}

result<storage::trace> load_trace(const simulate_options& options,
                                  std::uint64_t seed) {
  if (options.trace.empty() && options.zipf.empty()) {
    return fail(errc::bad_input, "simulate wants --trace FILE or --zipf "
                                 "n=..,s=..,requests=..");
  }
  if (!options.zipf.empty()) {
    auto zipf = storage::read_zipf_options(options.zipf);
    if (!zipf) {
      return tl::unexpected<error>(of_option("--zipf", zipf.error().message));
    }
    return storage::make_zipf_trace(*zipf, seed);
  }
  auto bytes = datasets::read_file_bytes(options.trace, most_trace_bytes);
  if (!bytes) return pass_on(bytes);
  return storage::read_trace(bytes->text, options.trace);
}

std::vector<capacity_outcome> simulate_all(const storage::workload& work,
                                           const plan& given) {
  std::vector<capacity_outcome> out;
  for (const auto capacity : given.capacities_bytes) {
    capacity_outcome one{
        capacity, storage::bound_saved_seconds(work, capacity), {}};
    for (const auto& name : given.policies) {
      const auto policy = storage::make_eviction_policy(name); // was checked
      one.policies.push_back(
          {name,
           storage::simulate(work, **policy, {capacity, given.look_ahead})});
    }
    out.push_back(std::move(one));
  }
  return out;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// Sums over the trace; the same for every policy.
struct trace_totals {
  std::size_t requests = 0, uses = 0, chunks = 0; ///< chunks that are used
  std::int64_t tokens = 0, distinct_bytes = 0;
  double recompute_s = 0;
};

trace_totals total(const storage::workload& work) {
  trace_totals out;
  out.requests = work.n_requests();
  out.uses = work.requests.uses.size();
  for (std::size_t use = 0; use < out.uses; ++use) {
    const auto chunk = work.requests.uses[use];
    out.tokens += work.requests.tokens[chunk];
    out.recompute_s += work.chunks[chunk].recompute_s;
    if (work.previous[use] != storage::never) continue;
    ++out.chunks;
    out.distinct_bytes += work.chunks[chunk].bytes;
  }
  return out;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 7> units{"B",   "KiB", "MiB", "GiB",
                                             "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

const char* bound_text(storage::bound_kind kind) {
  switch (kind) {
  case storage::bound_kind::every_reuse:
    return "every reuse, exact";
  case storage::bound_kind::belady:
    return "Belady, exact";
  case storage::bound_kind::relaxation:
    return "relaxation, no less than the "
           "optimum";
  }
  return "";
}

std::string row(const policy_outcome& one, double bound_s) {
  const auto& r = one.result;
  const auto share = bound_s > 0
                         ? fmt::format("{:.1f} %", 100 * r.saved_s / bound_s)
                         : std::string("-");
  return fmt::format(
      "  {:<17} {:>8.1f} % {:>8.1f} % {:>13.1f} {:>9} {:>11} {:>12}\n",
      one.policy,
      100
          * ratio(static_cast<double>(r.hit_tokens),
                  static_cast<double>(r.tokens)),
      100
          * ratio(static_cast<double>(r.requests_all_hit),
                  static_cast<double>(r.requests)),
      r.saved_s, share, r.evictions, size_text(r.written_bytes));
}

std::string table(const trace_totals& trace,
                  const std::vector<capacity_outcome>& outcomes) {
  auto text = fmt::format(
      "{} requests, {} uses of {} chunks; {} of distinct chunks; {:.1f} s to "
      "recompute every use\n",
      trace.requests, trace.uses, trace.chunks, size_text(trace.distinct_bytes),
      trace.recompute_s);
  for (const auto& one : outcomes) {
    text += fmt::format("\ncapacity {}: at most {:.1f} s can be saved ({})\n",
                        size_text(one.capacity_bytes), one.bound.saved_s,
                        bound_text(one.bound.kind));
    text += fmt::format("  {:<17} {:>10} {:>10} {:>13} {:>9} {:>11} {:>12}\n",
                        "policy", "tokens hit", "all hit", "seconds saved",
                        "of bound", "evictions", "written");
    for (const auto& policy : one.policies)
      text += row(policy, one.bound.saved_s);
    if (one.policies.empty()) continue;
    const auto too_large = one.policies.front().result.too_large;
    if (too_large > 0) {
      text += fmt::format("  {} uses were of chunks larger than the capacity\n",
                          too_large);
    }
  }
  return text;
}

ordered_json to_json(const policy_outcome& one, double bound_s) {
  const auto& r = one.result;
  ordered_json out{
      {"policy", one.policy},
      {"hit_ratio_tokens",
       ratio(static_cast<double>(r.hit_tokens), static_cast<double>(r.tokens))},
      {"hit_ratio_bytes",
       ratio(static_cast<double>(r.hit_bytes), static_cast<double>(r.bytes))},
      {"hit_ratio_uses",
       ratio(static_cast<double>(r.hits), static_cast<double>(r.uses))},
      {"requests_all_hit", r.requests_all_hit},
      {"saved_s", r.saved_s},
      {"share_of_bound", nullptr},
      {"evictions", r.evictions},
      {"evicted_bytes", r.evicted_bytes},
      {"written_bytes", r.written_bytes},
      {"too_large", r.too_large},
      {"no_room", r.no_room},
  };
  if (bound_s > 0) out["share_of_bound"] = r.saved_s / bound_s;
  return out;
}

ordered_json to_json(const trace_totals& trace, const plan& given,
                     const std::vector<capacity_outcome>& outcomes) {
  ordered_json out{{"trace",
                    {{"requests", trace.requests},
                     {"uses", trace.uses},
                     {"chunks", trace.chunks},
                     {"tokens", trace.tokens},
                     {"distinct_bytes", trace.distinct_bytes},
                     {"recompute_s", trace.recompute_s}}},
                   {"bytes_per_token", given.costs.bytes_per_token},
                   {"prefill_rate", given.costs.tokens_per_s},
                   {"quadratic", given.costs.quadratic_s},
                   {"look_ahead", given.look_ahead},
                   {"seed", given.seed},
                   {"capacities", ordered_json::array()}};
  for (const auto& one : outcomes) {
    ordered_json capacity{{"capacity_bytes", one.capacity_bytes},
                          {"bound_s", one.bound.saved_s},
                          {"bound", storage::to_string(one.bound.kind)},
                          {"policies", ordered_json::array()}};
    for (const auto& policy : one.policies)
      capacity["policies"].push_back(to_json(policy, one.bound.saved_s));
    out["capacities"].push_back(std::move(capacity));
  }
  return out;
}

} // namespace

int simulate(const simulate_options& options) {
  const auto given = read_plan(options);
  if (!given) return report_error(given.error());
  auto requests = load_trace(options, given->seed);
  if (!requests) return report_error(requests.error());
  const auto work = storage::make_workload(std::move(*requests), given->costs);
  if (!work) return report_error(work.error());
  const auto outcomes = simulate_all(*work, *given);
  if (options.common.json)
    put("{}\n", to_json(total(*work), *given, outcomes).dump());
  else if (!options.common.quiet)
    put("{}", table(total(*work), outcomes));
  return 0;
}

} // namespace kvloom::cli
