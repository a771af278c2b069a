kvloom_test(engine_tokenizer_test
  SOURCES tokenizer/added_tokens_test.cpp tokenizer/gguf_tokenizer_test.cpp
          tokenizer/golden_files.cpp tokenizer/golden_tokenizer_test.cpp
          tokenizer/nodes_test.cpp tokenizer/regex_test.cpp
          tokenizer/tokenizer_test.cpp prompt/chat_style_test.cpp
          prompt/prompt_test.cpp
  LIBS kvloom_engine_tokenizer nlohmann_json::nlohmann_json
  LABELS engine
  TIMEOUT 300)
