#include "storage/hdf5/chunk_file.hpp"

#include "core/tensor/float_bits.hpp"
#include "storage/hdf5/checksum.hpp"
#include "storage/hdf5/chunk_folder.hpp"

#include <fcntl.h>
#include <stdio.h> // NOLINT(modernize-deprecated-headers): renameat2
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace kvloom::storage {

namespace {

namespace fs = std::filesystem;

/// Bytes of one read: long enough for the device, short enough to be checked
/// while they are in the processor's cache.
constexpr std::int64_t read_piece_bytes = 2 << 20;
/// More than the metadata and the gaps before aligned datasets ever take.
constexpr std::int64_t most_overhead_bytes = 96 << 10;

std::size_t to_size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

std::span<std::byte> part(std::span<std::byte> all, std::int64_t offset,
                          std::int64_t bytes) {
  return all.subspan(to_size(offset), to_size(bytes));
}

std::span<const std::byte> part(std::span<const std::byte> all,
                                std::int64_t offset, std::int64_t bytes) {
  return all.subspan(to_size(offset), to_size(bytes));
}

// ---- summaries ------------------------------------------------------------

/// f32 or 16-bit elements as f32, and back without loss.
struct f32_element {
  using bits = float;
  static float widen(bits x) { return x; }
};
struct f16_element {
  using bits = std::uint16_t;
  static float widen(bits x) { return f16_to_f32(x); }
};
struct bf16_element {
  using bits = std::uint16_t;
  static float widen(bits x) { return bf16_to_f32(x); }
};

/// Keys of one head [n_tokens][head_dim] to [pages][head_dim] twice.
template <class Element>
void summarise_head(const kv_shape& shape, const std::byte* head,
                    std::byte* key_min, std::byte* key_max) {
  using bits = typename Element::bits;
  const auto* keys = reinterpret_cast<const bits*>(head);
  auto* low = reinterpret_cast<bits*>(key_min);
  auto* high = reinterpret_cast<bits*>(key_max);
  const auto n = shape.head_dim;
  for (std::int64_t t = 0; t < shape.n_tokens; ++t, keys += n) {
    if (t % summary_page_tokens == 0) {
      if (t > 0) low += n, high += n;
      std::copy_n(keys, n, low);
      std::copy_n(keys, n, high);
      continue;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const float x = Element::widen(keys[i]);
      low[i] = x < Element::widen(low[i]) ? keys[i] : low[i];
      high[i] = x > Element::widen(high[i]) ? keys[i] : high[i];
    }
  }
}

key_summaries summarise_keys(const kv_chunk& chunk) {
  const auto& shape = chunk.shape();
  const auto bytes = to_size(summary_bytes(shape));
  key_summaries made{std::vector<std::byte>(bytes),
                     std::vector<std::byte>(bytes)};
  const auto one
      = summary_pages(shape) * shape.head_dim * block_bytes(shape.type);
  const auto summarise = shape.type == dtype::f32 ? summarise_head<f32_element>
                         : shape.type == dtype::f16
                             ? summarise_head<f16_element>
                             : summarise_head<bf16_element>;
  if (bytes == 0) return made;
  for (std::int64_t l = 0; l < shape.n_layers; ++l)
    for (std::int64_t h = 0; h < shape.n_kv_heads; ++h) {
      const auto at = (l * shape.n_kv_heads + h) * one;
      summarise(shape, chunk.head(l, 0, h), made.key_min.data() + at,
                made.key_max.data() + at);
    }
  return made;
}

// ---- writing --------------------------------------------------------------

/// What goes into the datasets, beside the metadata.
struct chunk_contents {
  kv_buffer encoded;             ///< empty where the chunk's bytes are used
  std::span<const std::byte> kv; ///< all layers as stored
  std::vector<std::byte> scales;
  key_summaries summaries;
};

chunk_result<void> encode(kv_form form, const kv_chunk& chunk,
                          chunk_contents& out) {
  const auto& shape = chunk.shape();
  const auto kv_bytes = stored_layer_bytes(form, shape);
  const auto scale_bytes = scale_layer_bytes(form, shape);
  auto memory = kv_buffer::allocate(shape.n_layers * kv_bytes);
  if (!memory) return fault(miss_reason::no_memory, to_string(memory.error()));
  out.encoded = std::move(*memory);
  out.scales.resize(to_size(shape.n_layers * scale_bytes));
  const std::span<std::byte> kv{out.encoded.data(),
                                to_size(out.encoded.size())};
  for (std::int64_t l = 0; l < shape.n_layers; ++l) {
    auto done = encode_layer(
        form, shape,
        part(chunk.payload(), l * shape.layer_bytes(), shape.layer_bytes()),
        part(kv, l * kv_bytes, kv_bytes),
        part(std::span(out.scales), l * scale_bytes, scale_bytes));
    if (!done)
      return fault(miss_reason::not_encodable, to_string(done.error()));
  }
  out.kv = kv;
  return {};
}

chunk_result<chunk_contents> contents_of(kv_form form, const kv_chunk& chunk) {
  chunk_contents made;
  if (same_bits(form, chunk.shape().type)) {
    made.kv = chunk.payload();
  } else {
    auto encoded = encode(form, chunk, made);
    if (!encoded) return pass_on(encoded);
  }
  made.summaries = summarise_keys(chunk);
  return made;
}

chunk_metadata metadata_of(const chunk_identity& identity, kv_form form,
                           const kv_chunk& chunk,
                           const chunk_contents& contents,
                           std::string_view text) {
  chunk_metadata about;
  about.key = chunk_key(identity);
  about.identity = identity;
  about.form = form;
  about.base = chunk.base();
  about.text = text;
  const auto& shape = chunk.shape();
  const auto kv_bytes = stored_layer_bytes(form, shape);
  const auto scale_bytes = scale_layer_bytes(form, shape);
  for (std::int64_t l = 0; l < shape.n_layers; ++l)
    about.layer_checksums.push_back(
        xxh3(part(contents.kv, l * kv_bytes, kv_bytes),
             part(std::span<const std::byte>(contents.scales), l * scale_bytes,
                  scale_bytes)));
  about.summary_checksum
      = xxh3(contents.summaries.key_min, contents.summaries.key_max);
  return about;
}

/// A name beside the final one, unlinked unless it was published.
class temporary_name {
public:
  explicit temporary_name(fs::path path) : path_(std::move(path)) {}
  ~temporary_name() { unlink(path_.c_str()); }
  temporary_name(const temporary_name&) = delete;
  temporary_name& operator=(const temporary_name&) = delete;

  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

/// Refuses early what can't fit: HDF5 is not asked to close a file that the
/// system does not let it write.
chunk_result<void> check_space(const fs::path& temporary, std::int64_t bytes) {
  auto trial = raw_file::open(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!trial) return pass_on(trial);
  const temporary_name own(temporary);
  struct statvfs facts {};
  const auto folder = temporary.parent_path();
  if (statvfs(folder.c_str(), &facts) == 0) {
    const auto free = static_cast<double>(facts.f_bavail)
                      * static_cast<double>(facts.f_frsize);
    if (free < static_cast<double>(bytes))
      return fault(miss_reason::io_error,
                   folder.string() + ": " + std::to_string(bytes)
                       + " bytes are wanted and the file system has not that "
                         "much space left");
  }
  return trial->resize(bytes);
}

chunk_result<void> write_contents(const fs::path& path,
                                  const chunk_metadata& about,
                                  const chunk_places& places,
                                  const chunk_contents& contents) {
  auto file = raw_file::open(path, O_WRONLY);
  if (!file) return pass_on(file);
  const auto& id = about.identity;
  const std::array<std::pair<byte_range, std::span<const std::byte>>, 8> all{
      {{places.ids, std::as_bytes(std::span(id.ids))},
       {places.prefix_ids, std::as_bytes(std::span(id.prefix_ids))},
       {places.checksums, std::as_bytes(std::span(about.layer_checksums))},
       {places.scales, contents.scales},
       {places.key_min, contents.summaries.key_min},
       {places.key_max, contents.summaries.key_max},
       {places.text, std::as_bytes(std::span(about.text))},
       {places.kv, contents.kv}}};
  for (const auto& [place, bytes] : all) {
    if (place.bytes != std::ssize(bytes))
      return fault(miss_reason::io_error,
                   path.string() + ": HDF5 made a dataset of "
                       + std::to_string(place.bytes) + " bytes for "
                       + std::to_string(bytes.size()));
    auto written = file->write_at(place.offset, bytes);
    if (!written) return pass_on(written);
  }
  return file->sync();
}

chunk_result<void> sync_folder(const fs::path& folder) {
  auto open = raw_file::open(folder, O_RDONLY | O_DIRECTORY);
  if (!open) return pass_on(open);
  return open->sync();
}

/// The folder of the key's first two digits, made if need be.
chunk_result<void> make_shelf(const fs::path& shelf) {
  std::error_code code;
  const bool is_new = fs::create_directories(shelf, code);
  if (code)
    return fault(miss_reason::io_error,
                 shelf.string() + ": can't make the folder: " + code.message());
  return is_new ? sync_folder(shelf.parent_path()) : chunk_result<void>{};
}

/// False if someone else's file has the name.
chunk_result<bool> publish(const fs::path& temporary, const fs::path& path) {
  int code = renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(),
                       RENAME_NOREPLACE);
  if (code != 0 && (errno == EINVAL || errno == ENOSYS))
    // A file system without it: what is replaced has the same identity.
    code = std::rename(temporary.c_str(), path.c_str());
  if (code != 0 && errno == EEXIST) return false;
  if (code != 0)
    return fault(miss_reason::io_error,
                 path.string() + ": can't publish: " + std::strerror(errno));
  auto synced = sync_folder(path.parent_path());
  if (!synced) return pass_on(synced);
  return true;
}

// ---- opening --------------------------------------------------------------

/// The first bytes of every file that we write: HDF5 superblock version 2.
/// https://docs.hdfgroup.org/hdf5/develop/_f_m_t3.html#Superblock
struct superblock {
  static constexpr std::array<unsigned char, 8> signature{
      0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  static constexpr std::size_t bytes = 48;
  static constexpr std::size_t version_at = 8, end_of_file_at = 28;
};

/// Tells apart what the library would call one error.
chunk_result<void> check_superblock(const raw_file& file,
                                    std::int64_t file_bytes,
                                    const std::string& path) {
  std::array<std::byte, superblock::bytes> head{};
  const auto n = std::min(head.size(), to_size(file_bytes));
  auto read = file.read_at(0, std::span(head).first(n));
  if (!read) return read;
  const auto known = std::min(n, superblock::signature.size());
  if (std::memcmp(head.data(), superblock::signature.data(), known) != 0)
    return fault(miss_reason::foreign, path + ": not an HDF5 file");
  std::uint64_t end = superblock::bytes;
  if (n == head.size()) {
    if (head[superblock::version_at] != std::byte{2})
      return fault(miss_reason::foreign,
                   path + ": an HDF5 file that kvloom did not write");
    std::memcpy(&end, head.data() + superblock::end_of_file_at, sizeof end);
  }
  if (static_cast<std::uint64_t>(file_bytes) < end)
    return fault(miss_reason::truncated,
                 path + ": has " + std::to_string(file_bytes)
                     + " bytes and says it had " + std::to_string(end));
  if (static_cast<std::uint64_t>(file_bytes) > end)
    return fault(miss_reason::damaged,
                 path + ": damaged: " + std::to_string(file_bytes)
                     + " bytes where it says it has " + std::to_string(end));
  return {};
}

} // namespace

fs::path chunk_path(const fs::path& folder, std::string_view key) {
  return folder / key.substr(0, 2) / (std::string(key) + ".h5");
}

chunk_result<void> check_identity(const chunk_identity& identity,
                                  const kv_chunk& chunk) {
  if (std::ranges::equal(identity.ids, chunk.ids())
      && identity.shape == chunk.shape()
      && std::ssize(identity.prefix_ids) == chunk.base())
    return {};
  return fault(miss_reason::wrong_identity,
               "a chunk of " + std::to_string(chunk.ids().size())
                   + " tokens behind " + std::to_string(chunk.base())
                   + " was given under the identity of another of "
                   + std::to_string(identity.ids.size()) + " behind "
                   + std::to_string(identity.prefix_ids.size()));
}

chunk_result<std::int64_t> most_file_bytes(const chunk_identity& identity,
                                           std::string_view text) {
  const auto form = parse_kv_form(identity.form);
  if (!form) return fault(miss_reason::not_encodable, to_string(form.error()));
  const auto& shape = identity.shape;
  const auto ids = identity.ids.size() + identity.prefix_ids.size();
  return shape.n_layers
             * (stored_layer_bytes(*form, shape)
                + scale_layer_bytes(*form, shape)
                + static_cast<std::int64_t>(sizeof(std::uint64_t)))
         + 2 * summary_bytes(shape)
         + static_cast<std::int64_t>(ids * sizeof(token_id) + text.size())
         + most_overhead_bytes;
}

chunk_result<written_chunk> write_chunk_file(const fs::path& folder,
                                             const chunk_identity& identity,
                                             const kv_chunk& chunk,
                                             std::string_view text) {
  auto same = check_identity(identity, chunk);
  if (!same) return pass_on(same);
  const auto most_bytes = most_file_bytes(identity, text);
  if (!most_bytes) return tl::unexpected(most_bytes.error());
  written_chunk written{chunk_path(folder, chunk_key(identity)), 0, true};
  std::error_code code;
  const auto found = fs::file_size(written.path, code);
  written.file_bytes = code ? 0 : static_cast<std::int64_t>(found);
  if (!code) return written;

  const auto form = *parse_kv_form(identity.form);
  auto contents = contents_of(form, chunk);
  if (!contents) return pass_on(contents);
  const auto about = metadata_of(identity, form, chunk, *contents, text);
  auto shelf = make_shelf(written.path.parent_path());
  if (!shelf) return pass_on(shelf);
  const auto name = temporary_path(written.path);
  auto space = check_space(name, *most_bytes);
  if (!space) return pass_on(space);
  const temporary_name temporary(name);
  auto places = create_layout(name, about);
  if (!places) return pass_on(places);
  auto filled = write_contents(name, about, *places, *contents);
  if (!filled) return pass_on(filled);
  written.file_bytes = static_cast<std::int64_t>(fs::file_size(name, code));
  auto published = publish(name, written.path);
  if (!published) return pass_on(published);
  written.was_there = !*published;
  return written;
}

chunk_result<chunk_file> open_chunk_file(const fs::path& path) {
  // O_NONBLOCK: something that is not a file must not keep us waiting.
  auto file = raw_file::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return pass_on(file);
  const auto bytes = file->size();
  if (!bytes) return tl::unexpected(bytes.error());
  auto head = check_superblock(*file, *bytes, path.string());
  if (!head) return pass_on(head);
  auto layout = read_layout(path, *bytes);
  if (!layout) return pass_on(layout);
  chunk_file opened;
  opened.file_ = std::move(*file);
  opened.path_ = path;
  opened.about_ = std::move(layout->about);
  try {
    auto read = opened.read_metadata(layout->meta_checksum);
    if (!read) return pass_on(read);
  } catch (const std::bad_alloc&) {
    return fault(miss_reason::no_memory,
                 path.string() + ": no memory for its token ids");
  }
  return opened;
}

tl::unexpected<chunk_fault> chunk_file::damaged(const std::string& what) const {
  return fault(miss_reason::damaged, path_.string() + ": damaged: " + what);
}

chunk_result<void> chunk_file::read_metadata(std::uint64_t expected_checksum) {
  auto& id = about_.identity;
  const auto& places = about_.places;
  id.ids.resize(to_size(id.shape.n_tokens));
  id.prefix_ids.resize(to_size(about_.base));
  about_.layer_checksums.resize(to_size(id.shape.n_layers));
  about_.text.resize(to_size(places.text.bytes));
  for (const auto& [place, into] :
       {std::pair{places.ids, std::as_writable_bytes(std::span(id.ids))},
        std::pair{places.prefix_ids,
                  std::as_writable_bytes(std::span(id.prefix_ids))},
        std::pair{places.checksums,
                  std::as_writable_bytes(std::span(about_.layer_checksums))},
        std::pair{places.text,
                  std::as_writable_bytes(std::span(about_.text))}}) {
    auto read = file_.read_at(place.offset, into);
    if (!read) return read;
  }
  if (meta_checksum(about_) != expected_checksum)
    return damaged("the checksum of its metadata");
  if (chunk_key(id) != about_.key) return damaged("its key");
  return {};
}

chunk_result<void>
chunk_file::check_layer(std::int64_t layer, std::span<const std::byte> kv,
                        std::span<const std::byte> scales) const {
  if (xxh3(kv, scales) == about_.layer_checksums[to_size(layer)]) return {};
  return damaged("the checksum of layer " + std::to_string(layer));
}

chunk_result<void> chunk_file::read_same(std::int64_t first, std::int64_t count,
                                         std::span<std::byte> into) const {
  const auto layer_bytes = shape().layer_bytes();
  const auto at_once = std::max<std::int64_t>(
      1, read_piece_bytes / std::max<std::int64_t>(1, layer_bytes));
  for (std::int64_t done = 0; done < count; done += at_once) {
    const auto n = std::min(at_once, count - done);
    const auto piece = part(into, done * layer_bytes, n * layer_bytes);
    auto read = file_.read_at(
        about_.places.kv.offset + (first + done) * layer_bytes, piece);
    if (!read) return read;
    for (std::int64_t l = 0; l < n; ++l) {
      auto good = check_layer(first + done + l,
                              part(piece, l * layer_bytes, layer_bytes), {});
      if (!good) return good;
    }
  }
  return {};
}

chunk_result<void> chunk_file::read_decoded(std::int64_t layer,
                                            std::span<std::byte> into) const {
  const auto form = about_.form;
  const auto kv_bytes = stored_layer_bytes(form, shape());
  const auto scale_bytes = scale_layer_bytes(form, shape());
  try {
    std::vector<std::byte> kv(to_size(kv_bytes)), scales(to_size(scale_bytes));
    auto read = file_.read_at(about_.places.kv.offset + layer * kv_bytes, kv);
    if (!read) return read;
    read = file_.read_at(about_.places.scales.offset + layer * scale_bytes,
                         scales);
    if (!read) return read;
    auto good = check_layer(layer, kv, scales);
    if (good) decode_layer(form, shape(), kv, scales, into);
    return good;
  } catch (const std::bad_alloc&) {
    return fault(miss_reason::no_memory,
                 path_.string() + ": no memory to decode a layer");
  }
}

chunk_result<void> chunk_file::read_layers(std::int64_t first,
                                           std::int64_t count,
                                           std::span<std::byte> into) const {
  const auto layer_bytes = shape().layer_bytes();
  if (first < 0 || count < 0 || count > shape().n_layers - first
      || std::ssize(into) != count * layer_bytes)
    return fault(miss_reason::wrong_identity,
                 path_.string() + ": layers were asked for that it has not");
  if (same_bits(about_.form, shape().type))
    return read_same(first, count, into);
  for (std::int64_t l = 0; l < count; ++l) {
    auto read
        = read_decoded(first + l, part(into, l * layer_bytes, layer_bytes));
    if (!read) return read;
  }
  return {};
}

chunk_result<std::shared_ptr<kv_chunk>> chunk_file::read_chunk() const {
  auto memory = kv_buffer::allocate(shape().bytes());
  if (!memory) return fault(miss_reason::no_memory, to_string(memory.error()));
  auto made = kv_chunk::make(shape(), about_.base, about_.identity.ids,
                             std::move(*memory));
  if (!made) return fault(miss_reason::damaged, to_string(made.error()));
  auto read = read_layers(0, shape().n_layers, (*made)->payload());
  if (!read) return pass_on(read);
  return std::move(*made);
}

chunk_result<key_summaries> chunk_file::read_key_summaries() const {
  const auto bytes = to_size(summary_bytes(shape()));
  key_summaries found{std::vector<std::byte>(bytes),
                      std::vector<std::byte>(bytes)};
  for (auto [place, into] :
       {std::pair{about_.places.key_min, &found.key_min},
        std::pair{about_.places.key_max, &found.key_max}}) {
    auto read = file_.read_at(place.offset, *into);
    if (!read) return pass_on(read);
  }
  if (xxh3(found.key_min, found.key_max) != about_.summary_checksum)
    return damaged("the checksum of its key summaries");
  return found;
}

chunk_result<void> chunk_file::verify() const {
  std::vector<std::byte> layer(to_size(shape().layer_bytes()));
  for (std::int64_t l = 0; l < shape().n_layers; ++l) {
    auto read = read_layer(l, layer);
    if (!read) return read;
  }
  auto summaries = read_key_summaries();
  if (!summaries) return pass_on(summaries);
  return {};
}

} // namespace kvloom::storage
