#include "core/base/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kvloom {
namespace {

// Vectors of FIPS 180-4 (NIST example values).
TEST(sha256, gives_the_published_digests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb924"
                            "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223"
                               "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

TEST(sha256, pieces_equal_the_whole) {
  sha256 hash;
  hash.add("a");
  hash.add("");
  hash.add("bc");
  EXPECT_EQ(hash.hex(), sha256_hex("abc"));
}

} // namespace
} // namespace kvloom
