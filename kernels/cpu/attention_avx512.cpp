#include "kernels/cpu/attention_lanes.hpp"

namespace kvloom::kernels {

attention_path attention_avx512() {
  return {few, many};
}

} // namespace kvloom::kernels
