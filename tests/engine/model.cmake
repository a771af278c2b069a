find_package(nlohmann_json REQUIRED)
kvloom_test(engine_model_test
  SOURCES decode/answer_builder_test.cpp decode/sampler_test.cpp
          model/golden_model.cpp model/greedy_test.cpp model/kv_tail_test.cpp
          model/model_runner_test.cpp model/projection_test.cpp
          prefill/blend_test.cpp model/runner_errors_test.cpp model/segment_attention_test.cpp
  LIBS kvloom_engine_model kvloom_test_support nlohmann_json::nlohmann_json TBB::tbb
  LABELS engine model
  TIMEOUT 900)
