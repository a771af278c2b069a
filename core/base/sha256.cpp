#include "core/base/sha256.hpp"

#include <openssl/evp.h>

namespace kvloom {

struct sha256::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~state() { EVP_MD_CTX_free(context); }
};

sha256::sha256() : state_(std::make_unique<state>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}

sha256::~sha256() = default;

void sha256::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void sha256::add(std::string_view text) {
  EVP_DigestUpdate(state_->context, text.data(), text.size());
}

std::string sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &length);
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * length);
  for (unsigned int i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

} // namespace kvloom
