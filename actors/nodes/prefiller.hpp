// Turns a question and its passages into KV and a first token.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/ports.hpp"
#include "actors/wiring/registry.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace kvloom::actors {

struct prefiller_options {
  std::string mode = "full";
  std::int64_t answer_tokens = 1; ///< the decoder's max_new_tokens
  engine::sampling_options sampling;
};

/// The work of a prefiller before the model: prompt, check of its length,
/// account of its tokens. Immutable; no actor library in here.
class prompt_maker {
public:
  prompt_maker(std::shared_ptr<const language_model> model,
               prefiller_options options);

  /// Errors: those of the prompt; bad_input when prompt and answer do not fit
  /// the model's context, with the numbers and the remedy.
  result<running_request_ptr> make(const retrieved& asked) const;

private:
  std::shared_ptr<const language_model> model_;
  prefiller_options options_;
};

/// What must hold of a prefilled request: the account closes, the KV of every
/// prompt token is there, the parts of TTFT add up. Error: internal.
result<void> check_prefilled(const running_request& work);

class prefiller_state {
public:
  using pointer = stage_actor<retrieved>::pointer;
  static inline const char* name = "prefiller";
  explicit prefiller_state(pointer self) : self_(self) {}
  void init(prompt_maker prompts, model_actor owner,
            std::shared_ptr<model_demand> demand);
  stage_actor<retrieved>::behavior_type behavior();

private:
  void receive(edge_id edge, const retrieved& asked);
  void start_next();
  void done(const running_request_ptr& work, edge_id edge);
  void fail_request(std::uint64_t sequence, edge_id edge, error why,
                    std::shared_ptr<const request_result> partial);
  void end_if_empty();

  pointer self_;
  std::unique_ptr<prompt_maker> prompts_;
  model_actor owner_;
  std::shared_ptr<model_demand> demand_;
  run_links links_;
  in_port in_;
  out_port<prefilled> out_;
  std::deque<std::pair<running_request_ptr, edge_id>> waiting_;
  bool busy_ = false; ///< one request is at the model
};

stage_actor<retrieved>::behavior_type
prefiller(stage_actor<retrieved>::stateful_pointer<prefiller_state> self,
          const prompt_maker& prompts, const model_actor& owner,
          const std::shared_ptr<model_demand>& demand);

/// The kind `prefiller`.
node_type prefiller_type();

} // namespace kvloom::actors
