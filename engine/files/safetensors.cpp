#include "engine/files/safetensors.hpp"

#include "engine/files/file_kind.hpp"
#include "engine/files/json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace kvloom::engine {

namespace {

struct element_type {
  std::string_view name;
  std::uint64_t bytes;
  std::optional<dtype> type;
};

/// Every type of the format whose elements are whole bytes.
constexpr std::array element_types{
    element_type{"F32", 4, dtype::f32},
    element_type{"F16", 2, dtype::f16},
    element_type{"BF16", 2, dtype::bf16},
    element_type{"F64", 8, {}},
    element_type{"C64", 8, {}},
    element_type{"I64", 8, {}},
    element_type{"U64", 8, {}},
    element_type{"I32", 4, {}},
    element_type{"U32", 4, {}},
    element_type{"I16", 2, {}},
    element_type{"U16", 2, {}},
    element_type{"I8", 1, {}},
    element_type{"U8", 1, {}},
    element_type{"BOOL", 1, {}},
    element_type{"F8_E4M3", 1, {}},
    element_type{"F8_E5M2", 1, {}},
    element_type{"F8_E8M0", 1, {}},
    element_type{"F8_E4M3FNUZ", 1, {}},
    element_type{"F8_E5M2FNUZ", 1, {}},
};

const element_type* find_type(std::string_view name) {
  const auto* const found
      = std::find_if(element_types.begin(), element_types.end(),
                     [&](const auto& type) { return type.name == name; });
  return found == element_types.end() ? nullptr : found;
}

/// a * b, or nothing on overflow.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t c = 0;
  if (__builtin_mul_overflow(a, b, &c)) return std::nullopt;
  return c;
}

/// Reads the entries of a header over `data`.
class header_reader {
public:
  header_reader(const file_map& file, std::span<const std::byte> data)
      : place_(file.path().string()), data_(data) {}

  result<file_tensor> read(const std::string& name, const json& entry) const {
    const auto wrong = [&](const std::string& reason) {
      return fail(errc::environment,
                  "the tensor " + in_quotes(name) + " " + reason
                      + "; the file is damaged, download it again",
                  place_);
    };
    if (!entry.is_object() || !entry.contains("dtype")
        || !entry["dtype"].is_string() || !entry.contains("shape")
        || !entry["shape"].is_array() || !entry.contains("data_offsets")
        || !entry["data_offsets"].is_array()
        || entry["data_offsets"].size() != 2)
      return wrong("lacks dtype, shape or two data_offsets");
    for (const auto& [key, value] : entry.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        return wrong("has the unknown key " + in_quotes(key));

    file_tensor tensor;
    tensor.file = place_;
    tensor.type_name = entry["dtype"].get<std::string>();
    const element_type* type = find_type(tensor.type_name);
    if (type == nullptr)
      return wrong("has the unknown element type "
                   + in_quotes(tensor.type_name));
    tensor.type = type->type;

    std::uint64_t n_bytes = type->bytes;
    for (const json& axis : entry["shape"]) {
      if (!axis.is_number_unsigned()
          || axis.get<std::uint64_t>() > static_cast<std::uint64_t>(
                 std::numeric_limits<std::int64_t>::max()))
        return wrong("has a shape that is no list of sizes");
      const auto larger = product(n_bytes, axis.get<std::uint64_t>());
      if (!larger) return wrong("has a shape whose size overflows");
      n_bytes = *larger;
      tensor.shape.push_back(axis.get<std::int64_t>());
    }
    const json& offsets = entry["data_offsets"];
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
      return wrong("has data_offsets that are no sizes");
    const auto begin = offsets[0].get<std::uint64_t>();
    const auto end = offsets[1].get<std::uint64_t>();
    if (begin > end || end > data_.size())
      return wrong("lies at [" + std::to_string(begin) + ", "
                   + std::to_string(end) + ") of "
                   + std::to_string(data_.size()) + " data bytes");
    if (end - begin != n_bytes)
      return wrong("has " + std::to_string(end - begin) + " bytes, "
                   + tensor.type_name + " " + shape_text(tensor.shape)
                   + " takes " + std::to_string(n_bytes));
    tensor.bytes = data_.data() + begin;
    tensor.n_bytes = n_bytes;
    return tensor;
  }

private:
  std::string place_;
  std::span<const std::byte> data_;
};

} // namespace

result<std::vector<std::pair<std::string, file_tensor>>>
read_safetensors(const file_map& file) {
  const std::string place = file.path().string();
  const auto bytes = file.bytes();
  const auto wrong = [&](const std::string& reason) {
    const std::string kind = describe_kind(bytes);
    return fail(errc::environment,
                "is no safetensors file: "
                    + (kind.empty() || kind.starts_with("it looks like a safe")
                           ? reason + "; download it again"
                           : kind),
                place);
  };
  if (bytes.size() < 8)
    return wrong("it has " + std::to_string(bytes.size())
                 + " bytes, at least 8 were wanted");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t available = bytes.size() - 8;
  if (length > available)
    return wrong("its header should take " + std::to_string(length) + " bytes, "
                 + std::to_string(available)
                 + " follow; it is truncated or something else");
  if (length > largest_safetensors_header)
    return fail(errc::environment,
                "has a header of " + std::to_string(length) + " bytes; at most "
                    + std::to_string(largest_safetensors_header)
                    + " are read: split the model into shards",
                place);
  const auto text = bytes.subspan(8, length);
  if (text.empty() || text.front() != std::byte{'{'})
    return wrong("its header does not begin with {");
  auto header = parse_json_object(text, place, "the safetensors header");
  if (!header) return pass_on(header);

  const auto data = bytes.subspan(8 + length);
  const header_reader reader(file, data);
  std::vector<std::pair<std::string, file_tensor>> tensors;
  tensors.reserve(header->size());
  for (const auto& [name, entry] : header->items()) {
    if (name == "__metadata__") continue;
    auto tensor = reader.read(name, entry);
    if (!tensor) return pass_on(tensor);
    tensors.emplace_back(name, std::move(*tensor));
  }

  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.bytes, a.second.n_bytes)
           < std::pair(b.second.bytes, b.second.n_bytes);
  });
  const std::byte* next = data.data();
  const std::string* before = nullptr;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.bytes != next)
      return fail(errc::environment,
                  std::string(tensor.bytes < next ? "the tensors overlap"
                                                  : "data is left out")
                      + " between "
                      + (before == nullptr ? std::string("the start")
                                           : in_quotes(*before))
                      + " and " + in_quotes(name)
                      + "; the file is damaged, download it again",
                  place);
    next = tensor.bytes + tensor.n_bytes;
    before = &name;
  }
  if (next != data.data() + data.size())
    return fail(errc::environment,
                "has " + std::to_string(data.data() + data.size() - next)
                    + " bytes behind the last tensor; the file is damaged, "
                      "download it again",
                place);
  return tensors;
}

} // namespace kvloom::engine
