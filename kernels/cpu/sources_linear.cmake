# Weight matrices, dequantisation and few-row products.
list(APPEND KVLOOM_KERNEL_SOURCES
  cpu/dense_product_portable.cpp cpu/dequantise.cpp cpu/linear_kernels.cpp
  cpu/multiply_few.cpp cpu/page_buffer.cpp cpu/panel_layout.cpp
  cpu/panel_product_portable.cpp cpu/weight_matrix.cpp
  reference/linear_reference.cpp)
# Register blocks are written as loops of constant length: -O3 unrolls them
# whatever the build type.
set_source_files_properties(
  cpu/dense_product_portable.cpp cpu/panel_product_portable.cpp
  PROPERTIES COMPILE_OPTIONS "-O3")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND KVLOOM_KERNEL_SOURCES
    cpu/dense_product_avx2.cpp cpu/dense_product_avx512.cpp
    cpu/panel_product_avx2.cpp cpu/panel_product_avx512.cpp)
  set_source_files_properties(
    cpu/dense_product_avx2.cpp cpu/panel_product_avx2.cpp
    PROPERTIES COMPILE_OPTIONS "${KVLOOM_AVX2_FLAGS};-O3")
  set_source_files_properties(
    cpu/dense_product_avx512.cpp cpu/panel_product_avx512.cpp
    PROPERTIES COMPILE_OPTIONS "${KVLOOM_AVX512_FLAGS};-O3")
  # GCC 12 takes the undefined operands of its own intrinsics for mistakes.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
     AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    set_property(
      SOURCE cpu/dense_product_avx512.cpp cpu/panel_product_avx512.cpp
      APPEND PROPERTY COMPILE_OPTIONS -Wno-uninitialized
                                      -Wno-maybe-uninitialized)
  endif()
endif()
