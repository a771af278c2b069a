# Weight matrices and products with them.
kvloom_test(kernels_linear_test
  SOURCES linear_dequantise_test.cpp linear_few_test.cpp linear_fixture.cpp
          linear_many_test.cpp linear_matrix_test.cpp
  LIBS kvloom_kernels kvloom_kernels_torch)
