# Products with weight matrices.
add_executable(linear_bench ${CMAKE_CURRENT_LIST_DIR}/linear_bench.cpp)
target_link_libraries(linear_bench PRIVATE kvloom_flags kvloom_kernels
                                           kvloom_kernels_torch
                                           benchmark::benchmark)
