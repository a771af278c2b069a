#include "cli/command.hpp"
#include "cli/output.hpp"
#include "engine/files/checkpoint.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "kernels/api/cpu_features.hpp"
#include "report/write/run_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <thread>

namespace kvloom::cli {

namespace {

using nlohmann::json;

json describe(const engine::checkpoint& model) {
  const auto& config = model.config;
  json out{{"path", model.path.string()},
           {"family", engine::to_string(config.family)},
           {"layers", config.n_layers},
           {"hidden_size", config.hidden_size},
           {"query_heads", config.n_q_heads},
           {"kv_heads", config.n_kv_heads},
           {"head_dim", config.head_dim},
           {"vocabulary_rows", config.vocab_size},
           {"context_length", config.context_length},
           {"kv_bytes_per_token_16_bit", config.kv_bytes_per_token(2)},
           {"projection_type", to_string(model.layers.front().q.type)},
           {"head_type", to_string(model.head.type)}};
  if (!model.notes.empty()) out["notes"] = model.notes;
  return out;
}

void put_section(const json& section, const std::string& indent) {
  for (const auto& [name, value] : section.items()) {
    if (value.is_object()) {
      put("{}{}\n", indent, name);
      put_section(value, indent + "  ");
    } else {
      put("{}{:<28} {}\n", indent, name,
          value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

} // namespace

int doctor(const doctor_options& options) {
  report::run_manifest facts;
  report::add_this_machine(facts);
  json out{{"machine", facts.machine}, {"libraries", facts.versions}};
  out["kernels"] = {
      {"cpu_path", kernels::to_string(kernels::detected_path())},
      {"hardware_threads", std::thread::hardware_concurrency()},
      {"cuda", "not in this build: device must be cpu"},
  };
  int code = 0;
  if (!options.model.empty()) {
    auto model = engine::open_checkpoint(options.model);
    if (!model) {
      code = report_error(model.error());
    } else {
      out["model"] = describe(**model);
      auto words = engine::load_tokenizer(options.model);
      if (!words) {
        code = report_error(words.error());
      } else {
        out["model"]["tokenizer_ids"] = (*words)->size();
      }
    }
  }
  if (options.common.json)
    put("{}\n", out.dump(2));
  else if (!options.common.quiet)
    put_section(out, "");
  return code;
}

} // namespace kvloom::cli
