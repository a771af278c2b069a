#include "engine/files/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace kvloom::engine {

namespace {

struct signature {
  std::string_view start;
  const char* meaning;
};

constexpr std::array signatures{
    signature{"PK\x03\x04",
              "it is a zip archive (PyTorch .bin and .pt files are zip): "
              "convert it to safetensors"},
    signature{"\x1f\x8b", "it is gzip-compressed: unpack it first"},
    signature{"\x28\xb5\x2f\xfd", "it is zstd-compressed: unpack it first"},
    signature{"BZh", "it is bzip2-compressed: unpack it first"},
    signature{"\xfd"
              "7zXZ",
              "it is xz-compressed: unpack it first"},
    signature{"\x80\x02", "it is a Python pickle: convert it to safetensors"},
    signature{"\x80\x04", "it is a Python pickle: convert it to safetensors"},
    signature{"GGUF", "it is a GGUF file: name it directly as the model"},
    signature{"ggml", "it is an old GGML file: convert it to GGUF"},
    signature{"lmgg", "it is an old GGML file: convert it to GGUF"},
    signature{"tjgg", "it is an old GGJT file: convert it to GGUF"},
    signature{"\x89HDF", "it is an HDF5 file"},
    signature{"version https://git-lfs",
              "it is a git-lfs pointer, not the file itself: run `git lfs "
              "pull`"},
};

bool is_html(std::string_view text) {
  constexpr std::array starts{std::string_view{"<!doctype"},
                              std::string_view{"<html"},
                              std::string_view{"<?xml"}};
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  return std::any_of(starts.begin(), starts.end(), [&](auto start) {
    return text.size() >= start.size()
           && std::equal(
               start.begin(), start.end(), text.begin(),
               [](char want, char found) {
                 return want == std::tolower(static_cast<unsigned char>(found));
               });
  });
}

} // namespace

std::string describe_kind(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<std::size_t>(bytes.size(), 512));
  for (const auto& [start, meaning] : signatures)
    if (text.starts_with(start)) return meaning;
  if (is_html(text))
    return "it is an HTML or XML page, probably an error page saved by a "
           "download: download the file again";
  if (text.size() > 8 && text.substr(8).starts_with("{\""))
    return "it looks like a safetensors file: name its folder as the model";
  if (text.starts_with("{") || text.starts_with("["))
    return "it looks like JSON text";
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == 0; }))
    return "it begins with zeros, as after an interrupted download: download "
           "it again";
  return {};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown = "\"";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"') {
      shown += c;
    } else {
      shown += "\\x";
      shown += digits[byte >> 4];
      shown += digits[byte & 15];
    }
  }
  if (text.size() > longest) shown += "...";
  return shown + "\"";
}

} // namespace kvloom::engine
