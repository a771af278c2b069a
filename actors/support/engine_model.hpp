// The engine's model as the actors need it.
#pragma once

#include "actors/support/language_model.hpp"
#include "core/base/result.hpp"
#include "graphs/model/graph.hpp"

#include <memory>

namespace kvloom::actors {

/// Loads what the sections `model` and `prompt` of a graph name: runner,
/// tokenizer, wording. Errors: those of the engine, with the remedy; a
/// tokenizer that does not belong to the model (environment).
result<std::shared_ptr<language_model>>
load_engine_model(const graphs::graph& wiring);

} // namespace kvloom::actors
