# Attention, row-wise arithmetic and the choice of path.
list(APPEND KVLOOM_KERNEL_SOURCES
  cpu/attention.cpp cpu/attention_portable.cpp
  cpu/cpu_features.cpp
  cpu/elementwise.cpp cpu/elementwise_portable.cpp
  cpu/merge_partials.cpp
  reference/attention.cpp reference/elementwise.cpp)
# Register blocks are written as loops of constant length: -O3 unrolls them
# whatever the build type.
set_source_files_properties(
  cpu/attention_portable.cpp cpu/elementwise_portable.cpp
  PROPERTIES COMPILE_OPTIONS "-O3")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND KVLOOM_KERNEL_SOURCES
    cpu/attention_amx.cpp cpu/attention_avx2.cpp cpu/attention_avx512.cpp
    cpu/elementwise_avx2.cpp cpu/elementwise_avx512.cpp)
  set_source_files_properties(
    cpu/attention_avx2.cpp cpu/elementwise_avx2.cpp
    PROPERTIES COMPILE_OPTIONS "${KVLOOM_AVX2_FLAGS};-O3")
  set_source_files_properties(
    cpu/attention_avx512.cpp cpu/elementwise_avx512.cpp
    PROPERTIES COMPILE_OPTIONS "${KVLOOM_AVX512_FLAGS};-O3")
  set_source_files_properties(
    cpu/attention_amx.cpp
    PROPERTIES COMPILE_OPTIONS "${KVLOOM_AMX_FLAGS};-O3")
endif()
