#include "kernels/cpu/linear_kernels.hpp"

#include "kernels/api/cpu_features.hpp"

namespace kvloom::kernels {

namespace {

constexpr linear_kernels portable_set{
    portable::round_to_int8, portable::multiply_panels, portable::multiply_f32,
    portable::multiply_bf16};

#if defined(__x86_64__)
constexpr linear_kernels avx2_set{avx2::round_to_int8, avx2::multiply_panels,
                                  avx2::multiply_f32, avx2::multiply_bf16};
constexpr linear_kernels avx512_set{
    avx512::round_to_int8, avx512::multiply_panels, avx512::multiply_f32,
    avx512::multiply_bf16};
#endif

} // namespace

const linear_kernels& active_linear_kernels() {
#if defined(__x86_64__)
  switch (active_path()) {
  case cpu_path::portable:
    return portable_set;
  case cpu_path::avx2:
    return avx2_set;
  // Few rows wait for memory, so tile registers would gain nothing.
  case cpu_path::avx512:
  case cpu_path::amx:
    return avx512_set;
  }
#endif
  return portable_set;
}

} // namespace kvloom::kernels
