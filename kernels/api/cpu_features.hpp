// Which instruction sets the kernels use on this machine.
#pragma once

#include <cstdint>
#include <string>

namespace kvloom::kernels {

/// Paths through the CPU kernels, slowest first. A higher level includes the
/// lower ones.
enum class cpu_path : std::uint8_t {
  portable,
  avx2,   ///< AVX2, FMA, F16C
  avx512, ///< AVX-512 F, BW, DQ, VL, VNNI, BF16
  amx,    ///< avx512 and AMX-TILE, AMX-BF16, AMX-INT8, with leave of the kernel
};

/// The best path of this processor (cpuid, and for amx the permission of the
/// operating system).
cpu_path detected_path();

/// The path in use: the detected one, or less after limit_path().
cpu_path active_path();

/// Uses at most `path` from now on, for tests and A/B runs. Not thread-safe
/// against running kernels.
void limit_path(cpu_path path);

const char* to_string(cpu_path path);

} // namespace kvloom::kernels
