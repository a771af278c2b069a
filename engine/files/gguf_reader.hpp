// The structure of a GGUF file: typed keys and located tensors. Knows no
// model.
#pragma once

#include "core/base/result.hpp"
#include "engine/files/file_map.hpp"
#include "engine/files/weight_table.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kvloom::engine {

/// Value types of the format, by their number in the file.
enum class gguf_type : std::uint32_t {
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

/// An array as it lies in the file, already checked to be inside it.
struct gguf_array {
  gguf_type element = gguf_type::u8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes; ///< all elements, little-endian
};

/// Integers keep their sign: u64 values above 2^63 - 1 are uint64_t, others
/// int64_t.
using gguf_value = std::variant<std::int64_t, std::uint64_t, double, bool,
                                std::string_view, gguf_array>;

/// A GGUF file (versions 2 and 3, little-endian) whose every length, offset
/// and count has been compared with the file's size. Views into the map.
class gguf_file {
public:
  /// The alignment of data may be at most this.
  static constexpr std::uint64_t largest_alignment = 1ULL << 20;

  /// Errors: environment with path, byte position, found and wanted.
  static result<gguf_file> read(std::shared_ptr<const file_map> map);

  const std::string& place() const { return place_; }
  const std::shared_ptr<const file_map>& map() const { return map_; }
  const std::map<std::string, gguf_value, std::less<>>& values() const {
    return values_;
  }
  bool has(std::string_view key) const { return values_.contains(key); }

  // Values by key; nothing where the key is absent or null. Errors:
  // environment where the value has another type, naming key and both types.
  result<std::optional<std::int64_t>> integer(std::string_view key) const;
  result<std::optional<double>> number(std::string_view key) const;
  result<std::optional<bool>> boolean(std::string_view key) const;
  result<std::optional<std::string>> text(std::string_view key) const;
  result<std::vector<std::string>> texts(std::string_view key) const;
  result<std::vector<std::int64_t>> integers(std::string_view key) const;
  result<std::vector<float>> floats(std::string_view key) const;

  /// Shapes slowest axis first (the file has the fastest first).
  std::vector<std::pair<std::string, file_tensor>>& tensors() {
    return tensors_;
  }

private:
  const gguf_value* find(std::string_view key) const;
  tl::unexpected<error> wrong_type(std::string_view key,
                                   std::string_view wanted) const;

  std::string place_;
  std::shared_ptr<const file_map> map_;
  std::map<std::string, gguf_value, std::less<>> values_;
  std::vector<std::pair<std::string, file_tensor>> tensors_;
};

} // namespace kvloom::engine
