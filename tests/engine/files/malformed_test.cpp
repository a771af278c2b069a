// Files that are something else, cut short, or hit by stray bits.
#include "core/base/random.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/tokenizer/gguf_vocabulary.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <utility>

namespace kvloom::engine {
namespace {

using namespace test_support;
using testing::HasSubstr;

constexpr const char* lfs_pointer
    = "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4665a6e9d2a2b1e24c1c0dd4a2b4d1f5d0fbbd0a4c3a5c9b8f9f3f0f5e9"
      "d7a11\nsize 269060552\n";

const std::pair<std::string, const char*> other_files[] = {
    {"PK\x03\x04" + std::string(100, 'x'), "zip"},
    {"<!DOCTYPE html>\n<html><body>404</body></html>", "HTML"},
    {"\n <HTML><body>Sign in</body></html>", "HTML"},
    {lfs_pointer, "git lfs pull"},
    {"\x1f\x8b\x08" + std::string(40, 'x'), "gzip"},
    {"\x80\x02}q" + std::string(40, 'x'), "pickle"},
    {std::string(4096, '\0'), "zeros"},
};

class malformed : public testing::Test {
protected:
  temp_folder folder;
  tiny_options options = {.layers = 1,
                          .hidden = 32,
                          .q_heads = 3,
                          .kv_heads = 1,
                          .head_dim = 16,
                          .intermediate = 32};
  tiny_model model = make_tiny_model(options);

  std::string refused(const std::filesystem::path& path) const {
    const auto made = open_checkpoint(path);
    EXPECT_FALSE(made) << path;
    return made ? std::string{} : to_string(made.error());
  }
};

TEST_F(malformed, other_files_are_recognised) {
  write_hf_folder(model, folder.path());
  for (const auto& [bytes, word] : other_files) {
    write_file(folder / "m.gguf", bytes);
    EXPECT_THAT(refused(folder / "m.gguf"), HasSubstr(word));
    EXPECT_THAT(refused(folder / "m.gguf"), HasSubstr("m.gguf"));
    const auto words = read_gguf_vocabulary(folder / "m.gguf");
    ASSERT_FALSE(words);
    EXPECT_THAT(words.error().message, HasSubstr(word));

    write_file(folder / "model.safetensors", bytes);
    EXPECT_THAT(refused(folder.path()), HasSubstr(word));
    EXPECT_THAT(refused(folder.path()), HasSubstr("model.safetensors"));
  }
  write_hf_folder(model, folder.path());
  for (const char* file : {"config.json", "generation_config.json"}) {
    write_hf_folder(model, folder.path());
    write_file(folder / file, lfs_pointer);
    EXPECT_THAT(refused(folder.path()), HasSubstr(file));
    EXPECT_THAT(refused(folder.path()), HasSubstr("git lfs pull"));
    write_file(folder / file, "{\"a\": 1,}");
    EXPECT_THAT(refused(folder.path()), HasSubstr("byte 9"));
  }
  // One format in the place of the other.
  write_file(folder / "m.gguf", safetensors_bytes(model.tensors));
  EXPECT_THAT(refused(folder / "m.gguf"), HasSubstr("safetensors"));
  write_hf_folder(model, folder.path());
  write_file(folder / "model.safetensors", gguf_bytes(model));
  EXPECT_THAT(refused(folder.path()), HasSubstr("GGUF"));
}

TEST_F(malformed, no_regular_file_or_nothing_in_it) {
  write_file(folder / "empty.gguf", "");
  EXPECT_THAT(refused(folder / "empty.gguf"), HasSubstr("empty"));
  ASSERT_EQ(mkfifo((folder / "pipe.gguf").c_str(), 0600), 0);
  EXPECT_THAT(refused(folder / "pipe.gguf"), HasSubstr("regular file"));
  EXPECT_THAT(refused("/dev/null"), HasSubstr("regular file"));
  std::filesystem::create_symlink("nowhere", folder / "dangling.gguf");
  EXPECT_THAT(refused(folder / "dangling.gguf"), HasSubstr("no such model"));
}

// Every place in the head, and a good number in the data.
TEST_F(malformed, a_file_cut_short_is_refused) {
  const std::string gguf = gguf_bytes(model);
  const std::string tensors = safetensors_bytes(model.tensors);
  write_hf_folder(model, folder.path());
  const auto gguf_path = folder / "m.gguf";
  for (std::size_t n = 0; n < gguf.size(); n += n < 300 ? 1 : 97) {
    write_file(gguf_path, gguf.substr(0, n));
    ASSERT_FALSE(open_checkpoint(gguf_path)) << n;
  }
  write_file(gguf_path, gguf.substr(0, gguf.size() - 1));
  EXPECT_THAT(refused(gguf_path), HasSubstr("truncated"));
  const auto path = folder / "model.safetensors";
  for (std::size_t n = 0; n < tensors.size(); n += n < 300 ? 1 : 97) {
    write_file(path, tensors.substr(0, n));
    ASSERT_FALSE(open_checkpoint(folder.path())) << n;
  }
  write_file(path, tensors.substr(0, tensors.size() - 1));
  EXPECT_THAT(refused(folder.path()), HasSubstr("model.safetensors"));
}

/// Reads everything that an opened model promises.
std::uint64_t read_all(const checkpoint& made) {
  std::uint64_t sum = digest(made).size();
  EXPECT_LE(made.config.n_layers, 100'000);
  EXPECT_GT(made.config.head_dim, 0);
  return sum;
}

class stray_bits : public malformed {
protected:
  /// Damages `good` in its first `head` bytes (and now and then behind),
  /// opens it, and reads all that was opened. The error has a place.
  void damage(const std::string& good, std::size_t head,
              const std::filesystem::path& file,
              const std::filesystem::path& to_open, const char* stream) {
    random_stream random(11, stream);
    int n_opened = 0;
    constexpr int rounds = 1500;
    for (int round = 0; round < rounds; ++round) {
      std::string bytes = good;
      const auto n_hits = 1 + random.below(3);
      for (std::uint64_t hit = 0; hit < n_hits; ++hit) {
        const std::size_t at
            = random.below(random.below(10) == 0 ? bytes.size() : head);
        switch (random.below(4)) {
        case 0: // one bit
          bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at])
                                        ^ 1U << random.below(8));
          break;
        case 1: // any byte
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 2: { // a large number
          const std::uint64_t value = ~std::uint64_t{0} >> random.below(64);
          std::memcpy(bytes.data() + at, &value,
                      std::min<std::size_t>(8, bytes.size() - at));
          break;
        }
        default: // a byte more or less
          if (random.below(2) == 0)
            bytes.erase(at, 1);
          else
            bytes.insert(at, 1, static_cast<char>(random.below(256)));
        }
      }
      write_file(file, bytes);
      const auto made = open_checkpoint(to_open);
      if (made) {
        ++n_opened;
        read_all(**made);
      } else {
        ASSERT_FALSE(made.error().message.empty());
        ASSERT_FALSE(made.error().place.empty()) << made.error().message;
        ASSERT_LT(made.error().message.size(), 2000U);
      }
      if (file.extension() == ".gguf") {
        const auto words = read_gguf_vocabulary(file);
        ASSERT_TRUE(words || !words.error().message.empty());
      }
    }
    // Some hits change a name or a value only.
    EXPECT_LT(n_opened, rounds);
  }
};

TEST_F(stray_bits, gguf) {
  const std::string good = gguf_bytes(model);
  std::size_t data = 0;
  for (const tiny_tensor& tensor : model.tensors) data += tensor.bytes.size();
  damage(good, good.size() - data, folder / "m.gguf", folder / "m.gguf",
         "gguf");
}

TEST_F(stray_bits, safetensors) {
  write_hf_folder(model, folder.path());
  const std::string good = safetensors_bytes(model.tensors);
  std::uint64_t length = 0;
  std::memcpy(&length, good.data(), sizeof length);
  damage(good, 8 + length, folder / "model.safetensors", folder.path(),
         "safetensors");
}

TEST_F(stray_bits, config) {
  write_hf_folder(model, folder.path());
  damage(model.config, model.config.size(), folder / "config.json",
         folder.path(), "config");
}

TEST_F(stray_bits, index) {
  write_hf_folder(model, folder.path(), 2);
  const auto path = folder / "model.safetensors.index.json";
  const std::string good = read_file(path);
  damage(good, good.size(), path, folder.path(), "index");
}

} // namespace
} // namespace kvloom::engine
