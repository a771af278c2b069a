#include "kernels/cpu/elementwise_lanes.hpp"

namespace kvloom::kernels {

elementwise_path elementwise_avx512() {
  return path_of_this_file;
}

} // namespace kvloom::kernels
