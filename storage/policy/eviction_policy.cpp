#include "storage/policy/eviction_policy.hpp"

#include "storage/policy/ranked_policy.hpp"
#include "storage/policy/ranking.hpp"

#include <array>
#include <string>

namespace kvloom::storage {

namespace {

constexpr std::array<std::string_view, 11> names{
    "fifo",
    "lru",
    "lfu",
    "gdsf",
    "pgdsf",
    "look_ahead",
    "look_ahead+fifo",
    "look_ahead+lru",
    "look_ahead+lfu",
    "look_ahead+gdsf",
    "look_ahead+pgdsf",
};
constexpr std::string_view look_ahead = "look_ahead";

} // namespace

result<std::unique_ptr<eviction_policy>>
make_eviction_policy(std::string_view name) {
  auto order = name;
  const bool looks = name.starts_with(look_ahead);
  if (name == look_ahead)
    order = "lru";
  else if (looks && name.substr(look_ahead.size()).starts_with("+"))
    order = name.substr(look_ahead.size() + 1);
  auto found = make_ranking(order);
  if (!found) {
    std::string known;
    for (const auto one : names)
      known += (known.empty() ? "" : ", ") + std::string(one);
    return fail(errc::bad_input, "there is no eviction policy `"
                                     + std::string(name)
                                     + "`; known: " + known);
  }
  return std::make_unique<ranked_policy>(std::string(name), std::move(found),
                                         looks);
}

std::span<const std::string_view> eviction_policy_names() {
  return names;
}

} // namespace kvloom::storage
