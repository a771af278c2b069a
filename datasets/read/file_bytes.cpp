#include "datasets/read/file_bytes.hpp"

#include "core/base/sha256.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

namespace kvloom::datasets {

namespace {

constexpr std::size_t piece_bytes = 1U << 18;

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

tl::unexpected<error> too_large(std::uint64_t max_bytes,
                                const std::string& place) {
  return fail(errc::bad_input,
              fmt::format("holds more than {} bytes of data, the most that is "
                          "read at once; split the file",
                          max_bytes),
              place);
}

/// An inflater that ends itself.
class inflater {
public:
  // 15: largest window, 16: gzip only (zlib.h).
  inflater() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

private:
  z_stream stream_{};
  bool ready_ = false;
};

} // namespace

result<std::string> gunzip(std::string_view packed, std::uint64_t max_bytes,
                           const std::string& place) {
  const auto damaged = [&](std::string_view why) {
    return fail(errc::bad_input,
                fmt::format("damaged gzip data: {}; fetch or compress the "
                            "file again",
                            why),
                place);
  };
  inflater own;
  if (!own.ready())
    return fail(errc::environment, "no memory to decompress", place);
  auto& stream = own.stream();
  std::string text;
  std::string piece(piece_bytes, '\0');
  std::size_t read = 0;
  bool inside = true; // a member
  while (inside) {
    // zlib counts in unsigned int: large input goes in pieces.
    const auto feed = std::min<std::size_t>(packed.size() - read, 1U << 30);
    // zlib's interface is not const, but it does not write its input.
    stream.next_in
        = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(feed);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    read += feed - stream.avail_in;
    const auto made = piece.size() - stream.avail_out;
    if (text.size() + made > max_bytes) return too_large(max_bytes, place);
    text.append(piece, 0, made);
    if (code == Z_STREAM_END) {
      inside = read < packed.size();
      if (inside && inflateReset(&stream) != Z_OK)
        return damaged("bytes behind its end");
    } else if (code == Z_BUF_ERROR
               || (code == Z_OK && made == 0 && read == packed.size())) {
      return damaged("it ends early");
    } else if (code == Z_MEM_ERROR) {
      return fail(errc::environment, "no memory to decompress", place);
    } else if (code != Z_OK) {
      return damaged(stream.msg != nullptr ? stream.msg : "unknown fault");
    }
  }
  return text;
}

result<file_bytes> read_file_bytes(const std::filesystem::path& path,
                                   std::uint64_t max_bytes) {
  const auto place = path.string();
  const auto unreadable = [&](const std::string& why) {
    return fail(errc::environment,
                fmt::format("can't read the data set: {}; give the path of a "
                            "JSON or JSON lines file",
                            why),
                place);
  };
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found)
    return unreadable("no such file");
  if (std::filesystem::is_directory(status))
    return unreadable("it is a folder");
  const std::unique_ptr<std::FILE, close_file> file(
      std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(std::strerror(errno));
  std::string bytes;
  std::string piece(piece_bytes, '\0');
  while (const auto n = std::fread(piece.data(), 1, piece.size(), file.get())) {
    if (bytes.size() + n > max_bytes) return too_large(max_bytes, place);
    bytes.append(piece, 0, n);
  }
  if (std::ferror(file.get()) != 0) return unreadable(std::strerror(errno));
  file_bytes out;
  out.sha256 = sha256_hex(bytes);
  out.gzip = bytes.starts_with("\x1f\x8b");
  if (!out.gzip) {
    out.text = std::move(bytes);
    return out;
  }
  auto text = gunzip(bytes, max_bytes, place);
  if (!text) return pass_on(text);
  out.text = std::move(*text);
  return out;
}

} // namespace kvloom::datasets
