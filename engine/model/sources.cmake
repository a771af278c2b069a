# The model runner and what chooses tokens from its logits. Included by
# engine/CMakeLists.txt.
find_package(TBB REQUIRED)

kvloom_library(engine_model
  SOURCES model/forward_pass.cpp model/kv_tail.cpp model/model_runner.cpp
          model/model_weights.cpp model/projection.cpp
          model/segment_attention.cpp prefill/blend_pass.cpp
          prefill/choose_rows.cpp prefill/prefill_plan.cpp
          prefill/stored_prefill.cpp
          segments/dense_kv.cpp segments/kv_rows.cpp
          segments/request_kv.cpp decode/answer_builder.cpp
          decode/sampler.cpp
  PUBLIC kvloom_engine_files kvloom_engine_tokenizer kvloom_kernels
  PRIVATE kvloom_kernels_torch TBB::tbb)
