# Policies on traces, without bytes.
find_package(nlohmann_json REQUIRED)
kvloom_library(simulate
  SOURCES simulate/offline_bound.cpp simulate/read_trace.cpp
          simulate/simulate.cpp simulate/simulated_tier.cpp simulate/trace.cpp
          simulate/zipf_trace.cpp
  PUBLIC kvloom_policy
  PRIVATE nlohmann_json::nlohmann_json)
