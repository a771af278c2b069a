#include "engine/files/hf_rope.hpp"

#include "engine/files/hf_fields.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kvloom::engine {

namespace {

constexpr std::array<std::string_view, 15> known_keys{
    "type",
    "rope_type",
    "rope_theta",
    "factor",
    "low_freq_factor",
    "high_freq_factor",
    "original_max_position_embeddings",
    "attention_factor",
    "beta_fast",
    "beta_slow",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "partial_rotary_factor",
    "finetuned"};

/// The one object of parameters, whichever spelling the file uses; null where
/// it has none. Parameters by layer type must all be the same.
result<json> find_parameters(const json& text, const std::string& place) {
  const auto wrong = [&](const std::string& message) {
    return fail(errc::bad_input, message, place);
  };
  hf_fields top(text, place);
  const json* old_style = top.find("rope_scaling");
  const json* new_style = top.find("rope_parameters");
  for (const json* object : {old_style, new_style})
    if (object != nullptr && !object->is_object())
      return wrong("\"rope_scaling\" or \"rope_parameters\" is no object");
  if (old_style != nullptr && old_style->empty()) old_style = nullptr;
  if (new_style != nullptr && new_style->empty()) new_style = nullptr;
  if (old_style != nullptr && new_style != nullptr && *old_style != *new_style)
    return wrong("\"rope_scaling\" and \"rope_parameters\" are both present "
                 "and differ; remove the wrong one");
  const json* chosen = old_style != nullptr ? old_style : new_style;
  if (chosen == nullptr) return json(nullptr);
  const bool nested
      = std::any_of(chosen->begin(), chosen->end(),
                    [](const json& value) { return value.is_object(); });
  if (!nested) return *chosen;
  const json& first = *chosen->begin();
  for (const json& value : *chosen)
    if (value != first)
      return wrong("\"rope_parameters\" differ between layer types; models "
                   "with several rotary embeddings are not supported");
  return first;
}

void read_scheme(hf_fields& fields, rope_config& rope,
                 std::int64_t context_length,
                 std::optional<std::int64_t> outer_context) {
  using scheme = rope_config::scheme;
  auto name = fields.text("rope_type");
  if (!name) name = fields.text("type");
  const std::string kind = name.value_or("default");
  if (kind == "default") return;
  if (kind == "dynamic" || kind == "longrope" || kind == "su") {
    fields.refuse("the rotary scaling " + in_quotes(kind)
                  + " is not supported: its frequencies depend on the length "
                    "of the text, so cached keys could not be reused");
    return;
  }
  if (kind == "linear") {
    rope.kind = scheme::linear;
    rope.factor = fields.required_number("factor");
    return;
  }
  if (kind != "llama3" && kind != "yarn") {
    fields.refuse("the rotary scaling " + in_quotes(kind)
                  + " is not supported; default, linear, llama3 and yarn are");
    return;
  }
  // The outer key has priority, as in transformers (Phi-3's spelling).
  rope.original_context
      = outer_context ? *outer_context
                      : fields.integer("original_max_position_embeddings")
                            .value_or(context_length);
  if (kind == "llama3") {
    rope.kind = scheme::llama3;
    rope.factor = fields.required_number("factor");
    rope.low_freq_factor = fields.required_number("low_freq_factor");
    rope.high_freq_factor = fields.required_number("high_freq_factor");
    return;
  }
  rope.kind = scheme::yarn;
  if (const auto factor = fields.number("factor"))
    rope.factor = *factor;
  else if (rope.original_context > 0)
    rope.factor = static_cast<double>(context_length)
                  / static_cast<double>(rope.original_context);
  rope.attention_factor = fields.number("attention_factor");
  rope.mscale = fields.number("mscale");
  rope.mscale_all_dim = fields.number("mscale_all_dim");
  rope.truncate = fields.boolean("truncate").value_or(true);
  // Zero means the default here, as in transformers.
  if (const auto beta = fields.number("beta_fast"); beta && *beta != 0)
    rope.beta_fast = *beta;
  if (const auto beta = fields.number("beta_slow"); beta && *beta != 0)
    rope.beta_slow = *beta;
}

} // namespace

result<rope_config> read_hf_rope(const json& text, std::int64_t context_length,
                                 const std::string& place,
                                 std::vector<std::string>& notes) {
  auto parameters = find_parameters(text, place);
  if (!parameters) return pass_on(parameters);
  const json none = json::object();
  const json& object = parameters->is_null() ? none : *parameters;

  hf_fields top(text, place);
  hf_fields fields(object, place, "rope parameters: ");
  rope_config rope;
  auto theta = fields.number("rope_theta");
  if (!theta) theta = top.number("rope_theta");
  if (!theta) notes.push_back("no rope_theta; 10000 as in transformers");
  rope.theta = theta.value_or(10000);
  read_scheme(fields, rope, context_length,
              top.integer("original_max_position_embeddings"));
  for (hf_fields* from : {&top, &fields})
    if (const auto part = from->number("partial_rotary_factor");
        part && *part != 1)
      from->refuse("partial_rotary_factor is " + std::to_string(*part)
                   + "; only 1 (the whole head rotates) is supported");
  for (const auto& [key, value] : object.items())
    if (std::find(known_keys.begin(), known_keys.end(), key)
        == known_keys.end()) {
      if (key.starts_with("mrope") || key.ends_with("_factor"))
        fields.refuse("the rotary parameter " + in_quotes(key)
                      + " is not supported");
      else
        notes.push_back("unknown rotary parameter " + in_quotes(key)
                        + ", ignored");
    }
  if (!top.ok()) return top.fault();
  if (!fields.ok()) return fields.fault();
  return rope;
}

} // namespace kvloom::engine
