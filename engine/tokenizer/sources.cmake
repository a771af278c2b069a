# The tokenizer and the prompts as one library of their own, so that their
# tests link nothing of the model.
find_package(nlohmann_json REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)

add_library(kvloom_engine_tokenizer STATIC
  tokenizer/added_tokens.cpp
  tokenizer/bpe_model.cpp
  tokenizer/byte_level.cpp
  tokenizer/byte_pieces.cpp
  tokenizer/decoder.cpp
  tokenizer/gguf_tokenizer.cpp
  tokenizer/graph_tokenizer.cpp
  tokenizer/json_node.cpp
  tokenizer/merge_queue.cpp
  tokenizer/normalizer.cpp
  tokenizer/post_processor.cpp
  tokenizer/pre_tokenizer.cpp
  tokenizer/regex.cpp
  tokenizer/regex_dialect.cpp
  tokenizer/score_model.cpp
  tokenizer/split.cpp
  tokenizer/split_json.cpp
  tokenizer/tokenizer.cpp
  tokenizer/tokenizer_json.cpp
  tokenizer/unicode.cpp
  tokenizer/unicode_tables.cpp
  tokenizer/vocabulary.cpp
  prompt/chat_style.cpp
  prompt/marks.cpp
  prompt/prompt.cpp)
target_link_libraries(kvloom_engine_tokenizer
  PUBLIC kvloom_engine_files kvloom_core kvloom_flags
  PRIVATE nlohmann_json::nlohmann_json PkgConfig::PCRE2 PkgConfig::UTF8PROC)
