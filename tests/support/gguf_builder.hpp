// Bytes of a GGUF file, right or wrong on purpose.
#pragma once

#include "core/tensor/dtype.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvloom::test_support {

/// The number of a type in GGUF (`ggml_type`).
std::uint32_t gguf_number(dtype type);

/// Collects keys and tensors in the order of the calls. Every count and
/// offset is right unless a test overwrites it.
class gguf_builder {
public:
  /// Value types of the format.
  enum value_type : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    string,
    array,
    u64,
    i64,
    f64
  };

  gguf_builder& text(std::string_view key, std::string_view value);
  gguf_builder& count(std::string_view key, std::uint32_t value); ///< u32
  gguf_builder& real(std::string_view key, float value);
  gguf_builder& truth(std::string_view key, bool value);
  gguf_builder& texts(std::string_view key,
                      const std::vector<std::string>& values);
  gguf_builder& counts(std::string_view key,
                       const std::vector<std::int32_t>& values); ///< i32
  gguf_builder& reals(std::string_view key, const std::vector<float>& values);

  /// A key with any type number and any bytes behind it.
  gguf_builder& raw(std::string_view key, std::uint32_t type,
                    std::string_view bytes);

  /// `shape` slowest axis first, as in a checkpoint; the file has it the other
  /// way round. The data is padded to the alignment.
  gguf_builder& tensor(std::string_view name, std::uint32_t type,
                       const std::vector<std::uint64_t>& shape,
                       std::string_view bytes);

  /// An entry whose offset is `offset`, without data of its own.
  gguf_builder& entry(std::string_view name, std::uint32_t type,
                      const std::vector<std::uint64_t>& shape,
                      std::uint64_t offset);

  /// The file. `alignment` is that of the data (not written as a key).
  std::string bytes(std::uint32_t version = 3,
                    std::uint64_t alignment = 32) const;

  // Overwrite the counts of the head.
  std::uint64_t n_tensors = 0;
  std::uint64_t n_keys = 0;

private:
  std::string keys_, entries_, data_;
};

/// The little-endian bytes of a number.
template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A length and the text, as the format writes strings.
std::string gguf_text(std::string_view text);

} // namespace kvloom::test_support
