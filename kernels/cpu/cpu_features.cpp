#include "kernels/api/cpu_features.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace kvloom::kernels {

namespace {

// Linux asks every process for the permission to use the tile registers
// (Documentation/arch/x86/xstate.rst).
bool may_use_tiles() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr int request_permission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr int tile_data = 18;              // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

cpu_path detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")
      || !__builtin_cpu_supports("f16c"))
    return cpu_path::portable;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")
      || !__builtin_cpu_supports("avx512dq")
      || !__builtin_cpu_supports("avx512vl")
      || !__builtin_cpu_supports("avx512vnni")
      || !__builtin_cpu_supports("avx512bf16"))
    return cpu_path::avx2;
  if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-bf16")
      || !__builtin_cpu_supports("amx-int8") || !may_use_tiles())
    return cpu_path::avx512;
  return cpu_path::amx;
#else
  return cpu_path::portable;
#endif
}

std::atomic<cpu_path> limit{cpu_path::amx};

} // namespace

cpu_path detected_path() {
  static const cpu_path found = detect();
  return found;
}

cpu_path active_path() {
  const auto allowed = limit.load(std::memory_order_relaxed);
  return detected_path() < allowed ? detected_path() : allowed;
}

void limit_path(cpu_path path) {
  limit.store(path, std::memory_order_relaxed);
}

const char* to_string(cpu_path path) {
  switch (path) {
  case cpu_path::portable:
    return "portable";
  case cpu_path::avx2:
    return "avx2";
  case cpu_path::avx512:
    return "avx512";
  case cpu_path::amx:
    return "amx";
  }
  return "?";
}

} // namespace kvloom::kernels
