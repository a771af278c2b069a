kvloom_test(storage_simulate_test
  SOURCES simulate/offline_bound_test.cpp simulate/read_trace_test.cpp
          simulate/simulate_test.cpp simulate/simulated_tier_test.cpp
          simulate/trace_test.cpp simulate/zipf_trace_test.cpp
  LIBS kvloom_simulate)

if(TARGET kvloom)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME simulate_command
    COMMAND Python3::Interpreter -u
            ${CMAKE_CURRENT_SOURCE_DIR}/simulate/simulate_command_test.py
            $<TARGET_FILE:kvloom>)
  set_tests_properties(simulate_command PROPERTIES TIMEOUT 300)
endif()
