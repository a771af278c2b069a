#include "golden_model.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <bit>
#include <fstream>
#include <stdexcept>

namespace kvloom::engine {

namespace {

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::uint64_t splitmix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::vector<float> values_of(const golden_model::tensor& from) {
  std::size_t n = 1;
  for (const std::int64_t extent : from.shape)
    n *= static_cast<std::size_t>(extent);
  const std::uint64_t seed = fnv1a(from.name);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t z = splitmix64(seed + (i + 1) * 0x9e3779b97f4a7c15U);
    const float u = static_cast<float>(z >> 40) * 0x1p-23F - 1.0F;
    const float scaled = from.scale * u;
    values[i] = from.offset + scaled;
  }
  return values;
}

std::vector<golden_model> read_all() {
  std::ifstream in(KVLOOM_SOURCE_DIR "/tests/data/engine/golden_logits.json");
  std::vector<golden_model> all;
  for (const auto& from : nlohmann::json::parse(in)) {
    golden_model to;
    to.name = from["name"];
    to.config = from["config"].dump(1);
    for (const auto& tensor : from["tensors"])
      to.tensors.push_back({tensor[0], tensor[1], tensor[2], tensor[3]});
    to.ids = from["ids"].get<std::vector<token_id>>();
    to.rows = from["rows"].get<std::vector<std::size_t>>();
    to.logits = from["logits"].get<std::vector<std::vector<float>>>();
    all.push_back(std::move(to));
  }
  return all;
}

} // namespace

const std::vector<golden_model>& golden_models() {
  static const std::vector<golden_model> all = read_all();
  return all;
}

const golden_model& golden(const std::string& name) {
  for (const golden_model& one : golden_models())
    if (one.name == name) return one;
  throw std::invalid_argument("no golden model " + name);
}

scratch_folder::scratch_folder(const std::string& name)
    : path_(std::filesystem::temp_directory_path()
            / ("kvloom_model_test_" + std::to_string(getpid()) + "_" + name)) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_model(const golden_model& model, const std::filesystem::path& to,
                 const edit_values& edit) {
  static_assert(std::endian::native == std::endian::little);
  std::ofstream(to / "config.json") << model.config << '\n';
  nlohmann::json header;
  std::vector<float> data;
  for (const auto& tensor : model.tensors) {
    std::vector<float> values = values_of(tensor);
    if (edit) edit(tensor.name, values);
    const std::size_t begin = data.size() * sizeof(float);
    data.insert(data.end(), values.begin(), values.end());
    header[tensor.name]
        = {{"dtype", "F32"},
           {"shape", tensor.shape},
           {"data_offsets", {begin, data.size() * sizeof(float)}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::ofstream out(to / "model.safetensors", std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.write(reinterpret_cast<const char*>(data.data()),
            static_cast<std::streamsize>(data.size() * sizeof(float)));
}

} // namespace kvloom::engine
