#include "tests/support/gguf_builder.hpp"

#include <bit>
#include <stdexcept>

namespace kvloom::test_support {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t default_alignment = 32;

void pad(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

} // namespace

std::uint32_t gguf_number(dtype type) {
  switch (type) {
  case dtype::f32:
    return 0;
  case dtype::f16:
    return 1;
  case dtype::q4_0:
    return 2;
  case dtype::q4_1:
    return 3;
  case dtype::q8_0:
    return 8;
  case dtype::q4_k:
    return 12;
  case dtype::q6_k:
    return 14;
  case dtype::bf16:
    return 30;
  }
  throw std::invalid_argument("no such type in GGUF");
}

std::string gguf_text(std::string_view text) {
  return bytes_of(std::uint64_t{text.size()}) + std::string(text);
}

gguf_builder& gguf_builder::raw(std::string_view key, std::uint32_t type,
                                std::string_view bytes) {
  keys_ += gguf_text(key) + bytes_of(type);
  keys_ += bytes;
  ++n_keys;
  return *this;
}

gguf_builder& gguf_builder::text(std::string_view key, std::string_view value) {
  return raw(key, string, gguf_text(value));
}

gguf_builder& gguf_builder::count(std::string_view key, std::uint32_t value) {
  return raw(key, u32, bytes_of(value));
}

gguf_builder& gguf_builder::real(std::string_view key, float value) {
  return raw(key, f32, bytes_of(value));
}

gguf_builder& gguf_builder::truth(std::string_view key, bool value) {
  return raw(key, boolean, bytes_of(value));
}

gguf_builder& gguf_builder::texts(std::string_view key,
                                  const std::vector<std::string>& values) {
  std::string list = bytes_of(std::uint32_t{string})
                     + bytes_of(std::uint64_t{values.size()});
  for (const auto& value : values) list += gguf_text(value);
  return raw(key, array, list);
}

gguf_builder& gguf_builder::counts(std::string_view key,
                                   const std::vector<std::int32_t>& values) {
  std::string list
      = bytes_of(std::uint32_t{i32}) + bytes_of(std::uint64_t{values.size()});
  for (const auto value : values) list += bytes_of(value);
  return raw(key, array, list);
}

gguf_builder& gguf_builder::reals(std::string_view key,
                                  const std::vector<float>& values) {
  std::string list
      = bytes_of(std::uint32_t{f32}) + bytes_of(std::uint64_t{values.size()});
  for (const auto value : values) list += bytes_of(value);
  return raw(key, array, list);
}

gguf_builder& gguf_builder::entry(std::string_view name, std::uint32_t type,
                                  const std::vector<std::uint64_t>& shape,
                                  std::uint64_t offset) {
  entries_
      += gguf_text(name) + bytes_of(static_cast<std::uint32_t>(shape.size()));
  for (auto axis = shape.rbegin(); axis != shape.rend(); ++axis)
    entries_ += bytes_of(*axis);
  entries_ += bytes_of(type) + bytes_of(offset);
  ++n_tensors;
  return *this;
}

gguf_builder& gguf_builder::tensor(std::string_view name, std::uint32_t type,
                                   const std::vector<std::uint64_t>& shape,
                                   std::string_view bytes) {
  pad(data_, default_alignment);
  entry(name, type, shape, data_.size());
  data_ += bytes;
  return *this;
}

std::string gguf_builder::bytes(std::uint32_t version,
                                std::uint64_t alignment) const {
  std::string file
      = "GGUF" + bytes_of(version) + bytes_of(n_tensors) + bytes_of(n_keys);
  file += keys_ + entries_;
  pad(file, alignment);
  return file + data_;
}

} // namespace kvloom::test_support
