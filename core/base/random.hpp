// Named streams of random numbers: same seed and name, same numbers, on every
// machine and with every standard library.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvloom {

/// xoshiro256** 1.0 (Blackman and Vigna), seeded by SplitMix64 from a seed and
/// the name of the concern (`sampling`, `order`, ...), so that one concern
/// drawing more numbers never shifts another's.
/// Not thread-safe; copy it or make one a thread.
class random_stream {
public:
  random_stream(std::uint64_t seed, std::string_view name);

  /// The next 64 bits.
  std::uint64_t next();

  /// Uniform in [0, 1), 53 bits.
  double uniform();

  /// Uniform in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound);

  /// Standard normal (Box and Muller).
  double normal();

private:
  std::uint64_t state_[4];
};

} // namespace kvloom
