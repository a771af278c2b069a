kvloom_test(storage_simulate_test
  SOURCES simulate/offline_bound_test.cpp simulate/read_trace_test.cpp
          simulate/simulate_test.cpp simulate/simulated_tier_test.cpp
          simulate/trace_test.cpp simulate/zipf_trace_test.cpp
  LIBS kvloom_simulate)
