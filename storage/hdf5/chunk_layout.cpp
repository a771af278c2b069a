#include "storage/hdf5/chunk_layout.hpp"

#include "storage/hdf5/checksum.hpp"
#include "storage/hdf5/h5_library.hpp"

#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace kvloom::storage {

namespace {

/// Attributes lie in the object header, which holds 64 KiB.
constexpr std::size_t most_text_bytes = 8192;
/// Far above every model; keeps products of sizes apart from overflow.
constexpr std::int64_t most_elements = std::int64_t{1} << 46;

using dims = std::vector<hsize_t>;

/// Attributes and where their values go.
template <class T>
using named = std::initializer_list<std::pair<const char*, T*>>;

hsize_t size_of(std::int64_t n) {
  return static_cast<hsize_t>(n);
}

/// How elements look in the file.
struct element {
  hid_t type;
  const char* name; ///< attribute `dtype`
};

element plain_element(dtype type) {
  if (type == dtype::f32) return {H5T_IEEE_F32LE, "float32"};
  return {H5T_STD_U16LE, type == dtype::f16 ? "float16" : "bfloat16"};
}

element kv_element(kv_form form) {
  switch (form) {
  case kv_form::f32:
    return plain_element(dtype::f32);
  case kv_form::f16:
    return plain_element(dtype::f16);
  case kv_form::bf16:
    return plain_element(dtype::bf16);
  case kv_form::int8:
    return {H5T_STD_I8LE, "int8"};
  case kv_form::int4:
    return {H5T_STD_U8LE, "int4_packed"};
  }
  return {-1, ""};
}

/// One dataset: what it must look like, and where its place is noted.
struct dataset_plan {
  const char* name;
  hid_t type;
  const char* element_name; ///< null: the type says it all
  dims shape;
  byte_range chunk_places::*place;
};

std::vector<dataset_plan> dataset_plans(const kv_shape& shape, kv_form form,
                                        std::int64_t base) {
  const auto layers = size_of(shape.n_layers);
  const auto heads = size_of(shape.n_kv_heads);
  const auto tokens = size_of(shape.n_tokens);
  const auto values = size_of(shape.head_dim);
  const auto kv = kv_element(form);
  const auto keys = plain_element(shape.type);
  const dims pages{layers, heads, size_of(summary_pages(shape)), values};
  std::vector<dataset_plan> plans{
      {"token_ids", H5T_STD_I32LE, nullptr, {tokens}, &chunk_places::ids},
      {"prefix_ids",
       H5T_STD_I32LE,
       nullptr,
       {size_of(base)},
       &chunk_places::prefix_ids},
      {"checksums", H5T_STD_U64LE, nullptr, {layers}, &chunk_places::checksums},
      {"key_min", keys.type, keys.name, pages, &chunk_places::key_min},
      {"key_max", keys.type, keys.name, pages, &chunk_places::key_max},
  };
  if (has_scales(form))
    plans.push_back({"scales",
                     H5T_IEEE_F32LE,
                     nullptr,
                     {layers, 2, heads, tokens},
                     &chunk_places::scales});
  plans.push_back(
      {"kv",
       kv.type,
       kv.name,
       {layers, 2, heads, tokens, form == kv_form::int4 ? values / 2 : values},
       &chunk_places::kv});
  return plans;
}

h5_id text_type(std::size_t bytes) {
  h5_id type(H5Tcopy(H5T_C_S1));
  const bool set = type && H5Tset_size(type.get(), bytes) >= 0
                   && H5Tset_strpad(type.get(), H5T_STR_NULLPAD) >= 0
                   && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0;
  return set ? std::move(type) : h5_id();
}

h5_id space_of(const dims& shape) {
  return h5_id(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
}

bool write_attribute(hid_t object, const char* name, hid_t file_type,
                     hid_t memory_type, const h5_id& space, const void* value) {
  const h5_id made(H5Acreate2(object, name, file_type, space.get(), H5P_DEFAULT,
                              H5P_DEFAULT));
  return made && H5Awrite(made.get(), memory_type, value) >= 0;
}

bool write_attribute(hid_t object, const char* name, std::string text) {
  if (text.empty()) text.push_back('\0');
  const auto type = text_type(text.size());
  return type
         && write_attribute(object, name, type.get(), type.get(),
                            h5_id(H5Screate(H5S_SCALAR)), text.data());
}

bool write_attribute(hid_t object, const char* name, std::int64_t value) {
  return write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64,
                         h5_id(H5Screate(H5S_SCALAR)), &value);
}

bool write_attribute(hid_t object, const char* name, std::uint64_t value) {
  return write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64,
                         h5_id(H5Screate(H5S_SCALAR)), &value);
}

/// An attribute if it has exactly this type and one element.
template <class T>
std::optional<T> read_number(hid_t object, const char* name, hid_t file_type,
                             hid_t memory_type) {
  const h5_id found(H5Aopen(object, name, H5P_DEFAULT));
  if (!found) return std::nullopt;
  const h5_id type(H5Aget_type(found.get()));
  const h5_id space(H5Aget_space(found.get()));
  T value{};
  if (!type || !space || H5Tequal(type.get(), file_type) <= 0
      || H5Sget_simple_extent_npoints(space.get()) != 1
      || H5Aread(found.get(), memory_type, &value) < 0)
    return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_int(hid_t object, const char* name) {
  return read_number<std::int64_t>(object, name, H5T_STD_I64LE,
                                   H5T_NATIVE_INT64);
}

std::optional<std::uint64_t> read_checksum(hid_t object, const char* name) {
  return read_number<std::uint64_t>(object, name, H5T_STD_U64LE,
                                    H5T_NATIVE_UINT64);
}

std::optional<std::string> read_text(hid_t object, const char* name) {
  const h5_id found(H5Aopen(object, name, H5P_DEFAULT));
  if (!found) return std::nullopt;
  const h5_id type(H5Aget_type(found.get()));
  const h5_id space(H5Aget_space(found.get()));
  if (!type || !space || H5Tget_class(type.get()) != H5T_STRING
      || H5Tis_variable_str(type.get()) != 0
      || H5Sget_simple_extent_npoints(space.get()) != 1)
    return std::nullopt;
  const auto bytes = H5Tget_size(type.get());
  if (bytes == 0 || bytes > most_text_bytes) return std::nullopt;
  std::string text(bytes, '\0');
  const auto padded = text_type(bytes);
  if (!padded || H5Aread(found.get(), padded.get(), text.data()) < 0)
    return std::nullopt;
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

/// Place of a dataset whose space is allocated; none if the library says no.
std::optional<byte_range> place_of(const h5_id& dataset) {
  const auto bytes = H5Dget_storage_size(dataset.get());
  if (bytes == 0) return byte_range{};
  const auto offset = H5Dget_offset(dataset.get());
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (offset == HADDR_UNDEF || offset > haddr_t{most} || bytes > hsize_t{most})
    return std::nullopt;
  return byte_range{static_cast<std::int64_t>(offset),
                    static_cast<std::int64_t>(bytes)};
}

h5_id contiguous_now() {
  h5_id how(H5Pcreate(H5P_DATASET_CREATE));
  const bool set = how && H5Pset_layout(how.get(), H5D_CONTIGUOUS) >= 0
                   && H5Pset_alloc_time(how.get(), H5D_ALLOC_TIME_EARLY) >= 0
                   && H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER) >= 0
                   && H5Pset_obj_track_times(how.get(), false) >= 0;
  return set ? std::move(how) : h5_id();
}

std::optional<byte_range> create_dataset(hid_t file, const char* name,
                                         hid_t type, const h5_id& space,
                                         const char* element_name) {
  const auto how = contiguous_now();
  if (!how) return std::nullopt;
  const h5_id made(H5Dcreate2(file, name, type, space.get(), H5P_DEFAULT,
                              how.get(), H5P_DEFAULT));
  if (!made) return std::nullopt;
  if (element_name != nullptr
      && !write_attribute(made.get(), "dtype", element_name))
    return std::nullopt;
  return place_of(made);
}

h5_id create_file(const std::filesystem::path& path) {
  const auto access = chunk_file_access();
  const h5_id how(H5Pcreate(H5P_FILE_CREATE));
  // All attributes stay in the root's header, under its checksum.
  if (!access || !how || H5Pset_attr_phase_change(how.get(), 64, 0) < 0
      || H5Pset_obj_track_times(how.get(), false) < 0)
    return {};
  return h5_id(H5Fcreate(path.c_str(), H5F_ACC_EXCL, how.get(), access.get()));
}

bool write_attributes(hid_t file, const chunk_metadata& about) {
  const auto& id = about.identity;
  return write_attribute(file, "schema", chunk_schema)
         && write_attribute(file, "layout", kv_layout_id)
         && write_attribute(file, "key", about.key)
         && write_attribute(file, "model_digest", id.model_digest)
         && write_attribute(file, "tokenizer_digest", id.tokenizer_digest)
         && write_attribute(file, "rotary", id.rotary)
         && write_attribute(file, "dtype", to_string(id.shape.type))
         && write_attribute(file, "form", id.form)
         && write_attribute(file, "prefix_policy", id.prefix_policy)
         && write_attribute(file, "n_layers", id.shape.n_layers)
         && write_attribute(file, "n_kv_heads", id.shape.n_kv_heads)
         && write_attribute(file, "n_tokens", id.shape.n_tokens)
         && write_attribute(file, "head_dim", id.shape.head_dim)
         && write_attribute(file, "base", about.base)
         && write_attribute(file, "page_tokens", summary_page_tokens)
         && write_attribute(file, "summary_checksum", about.summary_checksum)
         && write_attribute(file, "meta_checksum", meta_checksum(about));
}

/// Text that an attribute can hold and give back.
bool can_be_attribute(const std::string& text) {
  return text.size() <= most_text_bytes && text.find('\0') == std::string::npos;
}

/// Looks at an open file and at nothing outside of it.
class layout_reader {
public:
  layout_reader(hid_t file, std::string path, std::int64_t file_bytes)
      : file_(file), path_(std::move(path)), file_bytes_(file_bytes) {}

  chunk_result<layout_found> read() {
    if (auto known = read_version(); !known) return pass_on(known);
    if (auto fields = read_fields(); !fields) return pass_on(fields);
    const auto& shape = found_.about.identity.shape;
    for (const auto& plan :
         dataset_plans(shape, found_.about.form, found_.about.base)) {
      auto place = read_place(plan);
      if (!place) return pass_on(place);
      found_.about.places.*plan.place = *place;
    }
    if (H5Lexists(file_, "text", H5P_DEFAULT) > 0) {
      auto place = read_text_place();
      if (!place) return pass_on(place);
      found_.about.places.text = *place;
    }
    found_.about.file_bytes = file_bytes_;
    return std::move(found_);
  }

private:
  tl::unexpected<chunk_fault> damaged(const std::string& what) const {
    return fault(miss_reason::damaged, path_ + ": damaged: " + what);
  }

  tl::unexpected<chunk_fault> unknown(const char* what, const std::string& got,
                                      const std::string& wanted) const {
    return fault(miss_reason::unknown_version,
                 path_ + ": " + what + " is `" + got + "`, known is " + wanted
                     + "; made by another version of kvloom");
  }

  chunk_result<void> read_version() const {
    const auto schema = read_text(file_, "schema");
    if (!schema || !schema->starts_with("kvloom/chunk/"))
      return fault(miss_reason::foreign,
                   path_ + ": an HDF5 file, but not a chunk of kvloom");
    if (*schema != chunk_schema)
      return unknown("schema", *schema, chunk_schema);
    const auto layout = read_text(file_, "layout");
    if (!layout) return damaged("no attribute `layout`");
    if (*layout != kv_layout_id)
      return unknown("layout", *layout, kv_layout_id);
    return {};
  }

  chunk_result<void> read_fields() {
    auto& about = found_.about;
    auto& id = about.identity;
    std::string type;
    for (const auto& [name, field] :
         named<std::string>{{"key", &about.key},
                            {"model_digest", &id.model_digest},
                            {"tokenizer_digest", &id.tokenizer_digest},
                            {"rotary", &id.rotary},
                            {"dtype", &type},
                            {"form", &id.form},
                            {"prefix_policy", &id.prefix_policy}}) {
      auto text = read_text(file_, name);
      if (!text) return damaged(std::string("no attribute `") + name + "`");
      *field = std::move(*text);
    }
    std::int64_t page_tokens = 0;
    for (const auto& [name, field] :
         named<std::int64_t>{{"n_layers", &id.shape.n_layers},
                             {"n_kv_heads", &id.shape.n_kv_heads},
                             {"n_tokens", &id.shape.n_tokens},
                             {"head_dim", &id.shape.head_dim},
                             {"base", &about.base},
                             {"page_tokens", &page_tokens}}) {
      const auto number = read_int(file_, name);
      if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
        return damaged(std::string("no attribute `") + name
                       + "`, or out of range");
      *field = *number;
    }
    for (const auto& [name, field] :
         named<std::uint64_t>{{"summary_checksum", &about.summary_checksum},
                              {"meta_checksum", &found_.meta_checksum}}) {
      const auto number = read_checksum(file_, name);
      if (!number) return damaged(std::string("no attribute `") + name + "`");
      *field = *number;
    }
    if (page_tokens != summary_page_tokens)
      return unknown("page_tokens", std::to_string(page_tokens),
                     std::to_string(summary_page_tokens));
    return read_types(type);
  }

  chunk_result<void> read_types(const std::string& type) {
    auto& shape = found_.about.identity.shape;
    bool known = false;
    for (const auto one : {dtype::f32, dtype::f16, dtype::bf16}) {
      if (type != to_string(one)) continue;
      shape.type = one;
      known = true;
    }
    if (!known) return unknown("dtype", type, "f32, f16, bf16");
    const auto form = parse_kv_form(found_.about.identity.form);
    if (!form)
      return unknown("form", found_.about.identity.form,
                     "f32, f16, bf16, int8, int4");
    found_.about.form = *form;
    if (*form == kv_form::int4 && shape.head_dim % 2 != 0)
      return damaged("int4 with an odd head_dim");
    std::int64_t elements = 2;
    for (const auto n :
         {shape.n_layers, shape.n_kv_heads, shape.n_tokens + 1, shape.head_dim})
      if (__builtin_mul_overflow(elements, n, &elements)
          || elements > most_elements)
        return damaged("a shape beyond all bounds");
    return {};
  }

  chunk_result<byte_range> read_place(const dataset_plan& plan) const {
    const std::string name = plan.name;
    const h5_id dataset(H5Dopen2(file_, plan.name, H5P_DEFAULT));
    if (!dataset) return damaged("no dataset `" + name + "`");
    const h5_id type(H5Dget_type(dataset.get()));
    const h5_id space(H5Dget_space(dataset.get()));
    if (!type || !space || H5Tequal(type.get(), plan.type) <= 0)
      return unknown("the type of a dataset", name, "another");
    if (plan.element_name != nullptr) {
      const auto dtype_name = read_text(dataset.get(), "dtype");
      if (!dtype_name || *dtype_name != plan.element_name)
        return unknown("dtype of a dataset", dtype_name.value_or(""),
                       plan.element_name);
    }
    if (H5Sget_simple_extent_ndims(space.get())
        != static_cast<int>(plan.shape.size()))
      return damaged("the rank of dataset `" + name + "`");
    dims shape(plan.shape.size());
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    if (shape != plan.shape) return damaged("the shape of `" + name + "`");
    auto bytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
    for (const auto n : shape) bytes *= static_cast<std::int64_t>(n);
    return checked_place(dataset, name, bytes);
  }

  chunk_result<byte_range> read_text_place() const {
    const h5_id dataset(H5Dopen2(file_, "text", H5P_DEFAULT));
    if (!dataset) return damaged("dataset `text`");
    const h5_id type(H5Dget_type(dataset.get()));
    const h5_id space(H5Dget_space(dataset.get()));
    if (!type || !space || H5Tget_class(type.get()) != H5T_STRING
        || H5Tis_variable_str(type.get()) != 0
        || H5Sget_simple_extent_npoints(space.get()) != 1)
      return damaged("the type of `text`");
    return checked_place(dataset, "text",
                         static_cast<std::int64_t>(H5Tget_size(type.get())));
  }

  chunk_result<byte_range> checked_place(const h5_id& dataset,
                                         const std::string& name,
                                         std::int64_t bytes) const {
    const h5_id how(H5Dget_create_plist(dataset.get()));
    if (!how || H5Pget_layout(how.get()) != H5D_CONTIGUOUS)
      return damaged("dataset `" + name + "` is not contiguous");
    const auto place = place_of(dataset);
    if (bytes == 0) return byte_range{};
    if (!place || place->bytes != bytes || place->bytes > file_bytes_
        || place->offset > file_bytes_ - place->bytes)
      return damaged("the place of `" + name + "`");
    return *place;
  }

  hid_t file_;
  std::string path_;
  std::int64_t file_bytes_;
  layout_found found_;
};

} // namespace

std::uint64_t meta_checksum(const chunk_metadata& about) {
  auto bytes = identity_bytes(about.identity);
  const auto add = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  bytes += about.key;
  add(&about.base, sizeof about.base);
  add(&about.summary_checksum, sizeof about.summary_checksum);
  add(about.layer_checksums.data(),
      about.layer_checksums.size() * sizeof(std::uint64_t));
  bytes += about.text;
  return xxh3(std::as_bytes(std::span(bytes)));
}

chunk_result<chunk_places> create_layout(const std::filesystem::path& path,
                                         const chunk_metadata& about) {
  const auto& id = about.identity;
  for (const auto* text : {&id.model_digest, &id.tokenizer_digest, &id.rotary,
                           &id.form, &id.prefix_policy})
    if (!can_be_attribute(*text))
      return fault(miss_reason::not_encodable,
                   path.string()
                       + ": a part of the identity holds NUL bytes or more "
                         "than 8192 bytes");
  const auto unwritable = [&] {
    return fault(miss_reason::io_error,
                 path.string() + ": HDF5 can't write the file");
  };
  const h5_session session;
  auto file = create_file(path);
  if (!file) return unwritable();
  chunk_places places;
  if (!write_attributes(file.get(), about)) return unwritable();
  for (const auto& plan : dataset_plans(id.shape, about.form, about.base)) {
    const auto place = create_dataset(file.get(), plan.name, plan.type,
                                      space_of(plan.shape), plan.element_name);
    if (!place) return unwritable();
    places.*plan.place = *place;
  }
  if (!about.text.empty()) {
    const auto type = text_type(about.text.size());
    const auto place = create_dataset(file.get(), "text", type.get(),
                                      h5_id(H5Screate(H5S_SCALAR)), nullptr);
    if (!place) return unwritable();
    places.text = *place;
  }
  if (!file.close()) return unwritable();
  return places;
}

chunk_result<layout_found> read_layout(const std::filesystem::path& path,
                                       std::int64_t true_file_bytes) {
  const h5_session session;
  const auto access = chunk_file_access();
  if (!access)
    return fault(miss_reason::io_error, path.string() + ": HDF5 has no memory");
  const h5_id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file)
    return fault(miss_reason::damaged,
                 path.string() + ": damaged: HDF5 can't open it");
  return layout_reader(file.get(), path.string(), true_file_bytes).read();
}

} // namespace kvloom::storage
