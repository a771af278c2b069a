#include "kernels/cpu/attention_lanes.hpp"

namespace kvloom::kernels {

attention_path attention_portable() {
  return {few, many};
}

} // namespace kvloom::kernels
