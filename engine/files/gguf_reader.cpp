#include "engine/files/gguf_reader.hpp"

#include "engine/files/file_kind.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace kvloom::engine {

static_assert(std::endian::native == std::endian::little,
              "model files are read in place");

namespace {

struct block_type {
  std::uint32_t number;
  const char* name;
  std::uint64_t values, bytes;
  std::optional<dtype> type;
};

/// Every tensor type of the format whose size we know: sizes are checked even
/// for those that cannot be run, so that the message names the type.
constexpr std::array block_types{
    block_type{0, "F32", 1, 4, dtype::f32},
    block_type{1, "F16", 1, 2, dtype::f16},
    block_type{2, "Q4_0", 32, 18, dtype::q4_0},
    block_type{3, "Q4_1", 32, 20, dtype::q4_1},
    block_type{6, "Q5_0", 32, 22, {}},
    block_type{7, "Q5_1", 32, 24, {}},
    block_type{8, "Q8_0", 32, 34, dtype::q8_0},
    block_type{9, "Q8_1", 32, 36, {}},
    block_type{10, "Q2_K", 256, 84, {}},
    block_type{11, "Q3_K", 256, 110, {}},
    block_type{12, "Q4_K", 256, 144, dtype::q4_k},
    block_type{13, "Q5_K", 256, 176, {}},
    block_type{14, "Q6_K", 256, 210, dtype::q6_k},
    block_type{15, "Q8_K", 256, 292, {}},
    block_type{16, "IQ2_XXS", 256, 66, {}},
    block_type{17, "IQ2_XS", 256, 74, {}},
    block_type{18, "IQ3_XXS", 256, 98, {}},
    block_type{19, "IQ1_S", 256, 50, {}},
    block_type{20, "IQ4_NL", 32, 18, {}},
    block_type{21, "IQ3_S", 256, 110, {}},
    block_type{22, "IQ2_S", 256, 82, {}},
    block_type{23, "IQ4_XS", 256, 136, {}},
    block_type{24, "I8", 1, 1, {}},
    block_type{25, "I16", 1, 2, {}},
    block_type{26, "I32", 1, 4, {}},
    block_type{27, "I64", 1, 8, {}},
    block_type{28, "F64", 1, 8, {}},
    block_type{29, "IQ1_M", 256, 56, {}},
    block_type{30, "BF16", 1, 2, dtype::bf16},
    block_type{34, "TQ1_0", 256, 54, {}},
    block_type{35, "TQ2_0", 256, 66, {}},
    block_type{39, "MXFP4", 32, 17, {}},
};

/// Bytes of one value; 0 for strings and arrays, nothing for unknown types.
std::optional<std::uint64_t> fixed_size(gguf_type type) {
  switch (type) {
  case gguf_type::u8:
  case gguf_type::i8:
  case gguf_type::boolean:
    return 1;
  case gguf_type::u16:
  case gguf_type::i16:
    return 2;
  case gguf_type::u32:
  case gguf_type::i32:
  case gguf_type::f32:
    return 4;
  case gguf_type::u64:
  case gguf_type::i64:
  case gguf_type::f64:
    return 8;
  case gguf_type::string:
  case gguf_type::array:
    return 0;
  }
  return std::nullopt;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

gguf_value scalar(gguf_type type, const std::byte* from) {
  switch (type) {
  case gguf_type::u8:
    return std::int64_t{load<std::uint8_t>(from)};
  case gguf_type::i8:
    return std::int64_t{load<std::int8_t>(from)};
  case gguf_type::u16:
    return std::int64_t{load<std::uint16_t>(from)};
  case gguf_type::i16:
    return std::int64_t{load<std::int16_t>(from)};
  case gguf_type::u32:
    return std::int64_t{load<std::uint32_t>(from)};
  case gguf_type::i32:
    return std::int64_t{load<std::int32_t>(from)};
  case gguf_type::i64:
    return load<std::int64_t>(from);
  case gguf_type::f32:
    return double{load<float>(from)};
  case gguf_type::f64:
    return load<double>(from);
  case gguf_type::boolean:
    return load<std::uint8_t>(from) != 0;
  case gguf_type::u64: {
    const auto value = load<std::uint64_t>(from);
    if (value
        > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return value;
    return static_cast<std::int64_t>(value);
  }
  case gguf_type::string:
  case gguf_type::array:
    break;
  }
  return std::int64_t{0};
}

/// A cursor over the bytes that never leaves them. The first fault sticks;
/// after it every read gives zeros.
class cursor {
public:
  cursor(std::span<const std::byte> bytes, std::string place)
      : bytes_(bytes), place_(std::move(place)) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }
  bool ok() const { return !fault_.has_value(); }
  tl::unexpected<error> fault() const { return tl::unexpected<error>(*fault_); }

  void refuse(const std::string& reason) {
    if (fault_) return;
    fault_ = error{errc::environment,
                   "at byte " + std::to_string(position_) + ": " + reason
                       + "; the GGUF file is damaged or truncated, download it "
                         "again",
                   place_};
  }

  /// The next n bytes; empty after a fault.
  std::span<const std::byte> take(std::uint64_t n, const char* what) {
    if (!ok()) return {};
    if (n > remaining()) {
      refuse(std::string(what) + " takes " + std::to_string(n) + " bytes, "
             + std::to_string(remaining()) + " remain");
      return {};
    }
    const auto taken = bytes_.subspan(position_, n);
    position_ += n;
    return taken;
  }

  template <class T>
  T integer(const char* what) {
    const auto taken = take(sizeof(T), what);
    return taken.empty() ? T{} : load<T>(taken.data());
  }

  std::string_view text(const char* what) {
    const auto length = integer<std::uint64_t>(what);
    const auto taken = take(length, what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  gguf_value value(gguf_type type, const std::string& key) {
    if (type == gguf_type::string) return text("a text value");
    if (type == gguf_type::array) return array(key, 0);
    const auto size = fixed_size(type);
    if (!size) {
      refuse("the key " + in_quotes(key) + " has the unknown value type "
             + std::to_string(static_cast<std::uint32_t>(type)));
      return std::int64_t{0};
    }
    const auto taken = take(*size, "a value");
    return taken.empty() ? gguf_value{std::int64_t{0}}
                         : scalar(type, taken.data());
  }

private:
  gguf_array array(const std::string& key, int depth) {
    constexpr int deepest = 4;
    gguf_array found;
    if (depth == deepest) refuse("the key " + in_quotes(key) + " is nested");
    found.element
        = static_cast<gguf_type>(integer<std::uint32_t>("an array's type"));
    found.count = integer<std::uint64_t>("an array's length");
    if (!ok()) return found;
    const auto size = fixed_size(found.element);
    if (!size) {
      refuse("the array " + in_quotes(key) + " has the unknown element type "
             + std::to_string(static_cast<std::uint32_t>(found.element)));
      return found;
    }
    // The least an element takes: a length, or type and length.
    const std::uint64_t least
        = *size != 0 ? *size : (found.element == gguf_type::string ? 8 : 12);
    if (found.count > remaining() / least) {
      refuse("the array " + in_quotes(key) + " has "
             + std::to_string(found.count) + " elements of at least "
             + std::to_string(least) + " bytes, " + std::to_string(remaining())
             + " bytes remain");
      return found;
    }
    const std::uint64_t start = position_;
    if (*size != 0) {
      take(found.count * *size, "an array");
    } else {
      for (std::uint64_t i = 0; i < found.count && ok(); ++i) {
        if (found.element == gguf_type::string)
          text("a text of an array");
        else
          array(key, depth + 1);
      }
    }
    if (ok()) found.bytes = bytes_.subspan(start, position_ - start);
    return found;
  }

  std::span<const std::byte> bytes_;
  std::string place_;
  std::uint64_t position_ = 0;
  std::optional<error> fault_;
};

/// A tensor's entry before its data is located.
struct tensor_entry {
  std::string name;
  file_tensor tensor;
  std::uint64_t offset = 0;
};

tensor_entry read_entry(cursor& at, const std::string& place) {
  constexpr std::uint32_t most_axes = 4;
  tensor_entry entry;
  entry.name = std::string(at.text("a tensor name"));
  entry.tensor.file = place;
  const auto named = [&](const std::string& reason) {
    at.refuse("the tensor " + in_quotes(entry.name) + " " + reason);
  };
  const auto n_axes = at.integer<std::uint32_t>("a number of axes");
  if (n_axes > most_axes || (at.ok() && n_axes == 0)) {
    named("has " + std::to_string(n_axes) + " axes, 1 to 4 were wanted");
    return entry;
  }
  std::uint64_t n_values = 1;
  for (std::uint32_t i = 0; i < n_axes; ++i) {
    const auto axis = at.integer<std::uint64_t>("an axis");
    if (!at.ok()) return entry;
    if (axis == 0
        || axis > static_cast<std::uint64_t>(
               std::numeric_limits<std::int64_t>::max())
        || __builtin_mul_overflow(n_values, axis, &n_values)) {
      named("has an axis of " + std::to_string(axis));
      return entry;
    }
    // The file has the fastest axis first.
    entry.tensor.shape.insert(entry.tensor.shape.begin(),
                              static_cast<std::int64_t>(axis));
  }
  const auto number = at.integer<std::uint32_t>("a tensor type");
  entry.offset = at.integer<std::uint64_t>("a tensor offset");
  if (!at.ok()) return entry;
  const auto* const type = std::find_if(
      block_types.begin(), block_types.end(),
      [&](const block_type& known) { return known.number == number; });
  if (type == block_types.end()) {
    named("has the unknown type number " + std::to_string(number));
    return entry;
  }
  entry.tensor.type_name = type->name;
  entry.tensor.type = type->type;
  const auto row = static_cast<std::uint64_t>(entry.tensor.shape.back());
  std::uint64_t n_bytes = 0;
  if (row % type->values != 0) {
    named("has rows of " + std::to_string(row) + " values, " + type->name
          + " wants multiples of " + std::to_string(type->values));
  } else if (__builtin_mul_overflow(n_values / type->values, type->bytes,
                                    &n_bytes)) {
    named("has a shape whose size overflows");
  }
  entry.tensor.n_bytes = n_bytes;
  return entry;
}

/// Points every entry into the data and checks that none overlap.
result<void> locate(std::vector<tensor_entry>& entries,
                    std::span<const std::byte> data, std::uint64_t alignment,
                    const std::string& place) {
  const auto wrong = [&](const tensor_entry& entry, const std::string& reason) {
    return fail(errc::environment,
                "the tensor " + in_quotes(entry.name) + " " + reason
                    + "; the GGUF file is damaged or truncated, download it "
                      "again",
                place);
  };
  for (tensor_entry& entry : entries) {
    if (entry.offset % alignment != 0)
      return wrong(entry, "lies at offset " + std::to_string(entry.offset)
                              + ", no multiple of the alignment "
                              + std::to_string(alignment));
    if (entry.offset > data.size()
        || entry.tensor.n_bytes > data.size() - entry.offset)
      return wrong(entry, "takes " + std::to_string(entry.tensor.n_bytes)
                              + " bytes at offset "
                              + std::to_string(entry.offset) + " of "
                              + std::to_string(data.size()) + " data bytes");
    entry.tensor.bytes = data.data() + entry.offset;
  }
  std::vector<const tensor_entry*> order;
  order.reserve(entries.size());
  for (const auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset < order[i - 1]->offset + order[i - 1]->tensor.n_bytes)
      return wrong(*order[i], "overlaps " + in_quotes(order[i - 1]->name));
  return {};
}

/// Calls `each` with the address of every element of a fixed size.
template <class F>
void for_elements(const gguf_array& list, F each) {
  const std::uint64_t size = *fixed_size(list.element);
  for (std::uint64_t i = 0; i < list.count; ++i)
    each(list.bytes.data() + i * size);
}

} // namespace

result<gguf_file> gguf_file::read(std::shared_ptr<const file_map> map) {
  gguf_file file;
  file.place_ = map->path().string();
  file.map_ = std::move(map);
  const auto bytes = file.map_->bytes();
  constexpr std::string_view magic = "GGUF";
  if (bytes.size() < magic.size()
      || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    const std::string kind = describe_kind(bytes);
    return fail(errc::environment,
                "is no GGUF file: "
                    + (kind.empty() ? "it does not begin with \"GGUF\"; check "
                                      "the path or download it again"
                                    : kind),
                file.place_);
  }
  cursor at(bytes, file.place_);
  at.take(magic.size(), "the magic");
  const auto version = at.integer<std::uint32_t>("the version");
  if (at.ok() && version != 2 && version != 3) {
    const bool swapped = version != 0 && (version & 0xffffU) == 0;
    return fail(errc::environment,
                swapped ? "is a big-endian GGUF file; get the little-endian "
                          "one"
                        : "is a GGUF file of version " + std::to_string(version)
                              + "; 2 and 3 are read: convert the model again",
                file.place_);
  }
  const auto n_tensors = at.integer<std::uint64_t>("the number of tensors");
  const auto n_values = at.integer<std::uint64_t>("the number of keys");
  // The least that a key and a tensor entry take.
  constexpr std::uint64_t least_value = 8 + 4 + 1;
  constexpr std::uint64_t least_entry = 8 + 4 + 8 + 4 + 8;
  if (at.ok() && n_values > at.remaining() / least_value)
    at.refuse(std::to_string(n_values) + " keys do not fit into "
              + std::to_string(at.remaining()) + " bytes");
  if (at.ok() && n_tensors > at.remaining() / least_entry)
    at.refuse(std::to_string(n_tensors) + " tensors do not fit into "
              + std::to_string(at.remaining()) + " bytes");

  for (std::uint64_t i = 0; i < n_values && at.ok(); ++i) {
    std::string key(at.text("a key"));
    const auto type
        = static_cast<gguf_type>(at.integer<std::uint32_t>("a value type"));
    if (!at.ok()) break;
    auto value = at.value(type, key);
    if (!file.values_.try_emplace(key, value).second)
      at.refuse("the key " + in_quotes(key) + " occurs twice");
  }
  if (!at.ok()) return at.fault();

  std::int64_t alignment = 32;
  if (auto given = file.integer("general.alignment"); !given)
    return pass_on(given);
  else if (*given)
    alignment = **given;
  if (alignment <= 0
      || static_cast<std::uint64_t>(alignment) > largest_alignment
      || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
    return fail(errc::environment,
                "general.alignment is " + std::to_string(alignment)
                    + "; a power of two up to "
                    + std::to_string(largest_alignment) + " was wanted",
                file.place_);

  std::vector<tensor_entry> entries;
  entries.reserve(n_tensors);
  for (std::uint64_t i = 0; i < n_tensors && at.ok(); ++i)
    entries.push_back(read_entry(at, file.place_));
  if (!at.ok()) return at.fault();

  const auto step = static_cast<std::uint64_t>(alignment);
  const std::uint64_t start = (at.position() + step - 1) / step * step;
  const auto data = start < bytes.size() ? bytes.subspan(start)
                                         : std::span<const std::byte>{};
  if (auto located = locate(entries, data, step, file.place_); !located)
    return pass_on(located);
  for (tensor_entry& entry : entries)
    file.tensors_.emplace_back(std::move(entry.name), std::move(entry.tensor));
  return file;
}

const gguf_value* gguf_file::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

tl::unexpected<error> gguf_file::wrong_type(std::string_view key,
                                            std::string_view wanted) const {
  constexpr std::array kinds{"an integer", "an integer above 2^63",
                             "a number",   "true or false",
                             "a text",     "an array"};
  return fail(errc::environment,
              "the key " + in_quotes(key) + " holds "
                  + kinds[values_.find(key)->second.index()] + ", "
                  + std::string(wanted)
                  + " was wanted; convert the model again",
              place_);
}

result<std::optional<std::int64_t>>
gguf_file::integer(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  return wrong_type(key, "an integer");
}

result<std::optional<double>> gguf_file::number(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(value))
    return static_cast<double>(*whole);
  return wrong_type(key, "a number");
}

result<std::optional<bool>> gguf_file::boolean(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* truth = std::get_if<bool>(value)) return *truth;
  return wrong_type(key, "true or false");
}

result<std::optional<std::string>> gguf_file::text(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* found = std::get_if<std::string_view>(value))
    return std::string(*found);
  return wrong_type(key, "a text");
}

result<std::vector<std::string>> gguf_file::texts(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) return std::vector<std::string>{};
  const auto* list = std::get_if<gguf_array>(value);
  if (list == nullptr || list->element != gguf_type::string)
    return wrong_type(key, "an array of texts");
  cursor at(list->bytes, place_);
  std::vector<std::string> all;
  all.reserve(list->count);
  for (std::uint64_t i = 0; i < list->count; ++i)
    all.emplace_back(at.text("a text of an array"));
  return all;
}

result<std::vector<std::int64_t>>
gguf_file::integers(std::string_view key) const {
  const gguf_value* value = find(key);
  std::vector<std::int64_t> all;
  if (value == nullptr) return all;
  const auto* list = std::get_if<gguf_array>(value);
  if (list == nullptr || list->element == gguf_type::string
      || list->element == gguf_type::array || list->element == gguf_type::f32
      || list->element == gguf_type::f64)
    return wrong_type(key, "an array of integers");
  all.reserve(list->count);
  bool fits = true;
  for_elements(*list, [&](const std::byte* from) {
    const gguf_value element = scalar(list->element, from);
    if (const auto* whole = std::get_if<std::int64_t>(&element))
      all.push_back(*whole);
    else if (const auto* truth = std::get_if<bool>(&element))
      all.push_back(*truth ? 1 : 0);
    else
      fits = false;
  });
  if (!fits) return wrong_type(key, "an array of integers below 2^63");
  return all;
}

result<std::vector<float>> gguf_file::floats(std::string_view key) const {
  const gguf_value* value = find(key);
  std::vector<float> all;
  if (value == nullptr) return all;
  const auto* list = std::get_if<gguf_array>(value);
  if (list == nullptr
      || (list->element != gguf_type::f32 && list->element != gguf_type::f64))
    return wrong_type(key, "an array of numbers");
  all.reserve(list->count);
  for_elements(*list, [&](const std::byte* from) {
    all.push_back(
        static_cast<float>(std::get<double>(scalar(list->element, from))));
  });
  return all;
}

} // namespace kvloom::engine
