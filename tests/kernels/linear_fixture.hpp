// Random weight matrices and activations for the tests of products.
#pragma once

#include "kernels/api/cpu_features.hpp"
#include "kernels/api/linear.hpp"

#include <tbb/task_arena.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kvloom::kernels {

/// Rows as they lie in a file.
struct file_matrix {
  dtype type = dtype::f32;
  std::int64_t rows = 0, columns = 0;
  std::vector<std::byte> bytes;

  matrix_source source() const { return {type, bytes.data(), rows, columns}; }
};

/// Plain types: normal values of a standard deviation of 0.05. Quantised types:
/// any integers, block scales of about that size.
file_matrix random_matrix(dtype type, std::int64_t rows, std::int64_t columns,
                          std::uint64_t seed);

/// Normal values with a few of 30 times the size, as activations have.
std::vector<float> random_activations(std::int64_t n, std::uint64_t seed);

/// The f16 at `at`.
void put_half(std::byte* at, float value);

/// Every type that a weight matrix may come from, and those in blocks.
std::vector<dtype> all_types();
std::vector<dtype> block_types();

/// Every path of this processor.
std::vector<cpu_path> all_paths();

/// Limits the path for the life of the object.
class with_path {
public:
  explicit with_path(cpu_path path) { limit_path(path); }
  ~with_path() { limit_path(cpu_path::amx); }
  with_path(const with_path&) = delete;
  with_path& operator=(const with_path&) = delete;
};

/// Runs `body` on `n` threads.
template <class Body>
void on_threads(int n, const Body& body) {
  tbb::task_arena arena(n);
  arena.execute(body);
}

/// Equal bit for bit.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b);

} // namespace kvloom::kernels
