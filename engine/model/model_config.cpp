#include "engine/model/model_config.hpp"

namespace kvloom::engine {

const char* to_string(model_family family) {
  switch (family) {
  case model_family::llama:
    return "llama";
  case model_family::mistral:
    return "mistral";
  case model_family::qwen2:
    return "qwen2";
  case model_family::qwen3:
    return "qwen3";
  }
  return "?";
}

} // namespace kvloom::engine
