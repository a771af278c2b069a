#include "core/base/random.hpp"

#include <bit>
#include <cmath>

namespace kvloom {

namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  auto z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

} // namespace

random_stream::random_stream(std::uint64_t seed, std::string_view name) {
  // FNV-1a of the name, mixed with the seed.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3ULL;
  auto mix = seed ^ std::rotl(hash, 32);
  for (auto& word : state_) word = split_mix(mix);
}

std::uint64_t random_stream::next() {
  const auto out = std::rotl(state_[1] * 5, 7) * 9;
  const auto t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return out;
}

double random_stream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t random_stream::below(std::uint64_t bound) {
  const auto limit = -bound % bound; // 2^64 mod bound
  for (;;) {
    const auto drawn = next();
    if (drawn >= limit) return drawn % bound;
  }
}

double random_stream::normal() {
  double u = uniform();
  while (u <= 0) u = uniform();
  const double v = uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

} // namespace kvloom
