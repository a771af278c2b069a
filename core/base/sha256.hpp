// SHA-256 digests (FIPS 180-4) of bytes, for the identity of models, data and
// chunks.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kvloom {

/// Collects bytes and gives their SHA-256. Not thread-safe.
class sha256 {
public:
  sha256();
  ~sha256();
  sha256(const sha256&) = delete;
  sha256& operator=(const sha256&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);

  /// The digest in 64 lower-case hexadecimal digits; ends the collection.
  std::string hex();

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Digest of one piece of text or bytes.
std::string sha256_hex(std::string_view bytes);

} // namespace kvloom
