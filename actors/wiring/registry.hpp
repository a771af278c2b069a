// Kinds of nodes and how they come to life: one registration a kind.
#pragma once

#include "actors/interfaces/actors.hpp"
#include "actors/support/language_model.hpp"
#include "actors/support/model_owner.hpp"
#include "actors/support/run_books.hpp"
#include "actors/support/stage.hpp"
#include "actors/wiring/declare.hpp"
#include "core/base/result.hpp"
#include "datasets/dataset.hpp"
#include "graphs/check/load_run.hpp"
#include "graphs/model/kind.hpp"

#include <caf/actor_system.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kvloom::actors {

/// What nodes find and leave while they are prepared: before the model is
/// loaded, before anything is spawned or written. The source comes first, then
/// the others in the order of the file.
struct prepare_context {
  explicit prepare_context(const graphs::run_plan& of) : plan(of) {}

  const graphs::run_plan& plan;
  std::shared_ptr<const datasets::dataset> data; ///< left by the source
  request_plan requests;                         ///< left by the source
  first_token_options first_token;               ///< left by the recorder
  books_options books;                           ///< left by the recorder
  /// For the manifest.
  std::map<std::string, std::string> digests;
  std::vector<std::string> notes;
  std::vector<std::string> unmet; ///< asked for, and will not happen

  /// The first node of this kind that is reached from `from` along edges;
  /// null if there is none.
  const graphs::graph_node* downstream(const std::string& from,
                                       const std::string& kind) const;
};

/// What nodes find when they are spawned.
struct spawn_context {
  caf::actor_system& system;
  std::shared_ptr<language_model> model;
  model_actor owner;
  std::shared_ptr<model_demand> demand;
  std::shared_ptr<run_books> books; ///< for the recorder alone
  /// False in tests with a deterministic scheduler, which can't run threads.
  bool may_detach = true;
};

/// A spawned node; `source` and `ledger` where it is one.
struct running_node {
  node_actor node;
  source_actor source;
  ledger_actor ledger;
};

using node_spawner = std::function<running_node(spawn_context&)>;

/// A kind with the function that makes its nodes.
struct node_type {
  graphs::actor_kind kind;
  /// Reads what the node needs and checks what the schema can't.
  /// Errors: bad_input, environment.
  std::function<result<node_spawner>(const graphs::graph_node&,
                                     prepare_context&)>
      prepare;
};

/// All kinds that a process can run. Filled once at start, then read-only.
class node_registry {
public:
  /// False (and nothing added) if the name is taken.
  bool add(node_type type);
  const node_type* find(const std::string& kind) const;
  const std::map<std::string, node_type>& all() const { return types_; }

private:
  std::map<std::string, node_type> types_;
};

/// question_source, retriever, prefiller, decoder, recorder.
void register_builtin_nodes(node_registry& nodes);

/// The kinds alone, for checking graphs.
graphs::kind_catalogue kinds_of(const node_registry& nodes);

/// A kind whose nodes make one Out of one In (stage.hpp): `make` turns a node
/// of a graph into its function.
template <class In, class Out>
node_type stage_type(graphs::actor_kind kind,
                     std::function<result<stage_function<In, Out>>(
                         const graphs::graph_node&, prepare_context&)>
                         make) {
  return {
      std::move(kind),
      [make
       = std::move(make)](const graphs::graph_node& node,
                          prepare_context& context) -> result<node_spawner> {
        auto work = make(node, context);
        if (!work) return pass_on(work);
        return [work = std::move(*work)](spawn_context& at) {
          return running_node{spawn_stage<In, Out>(at.system, work), {}, {}};
        };
      }};
}

} // namespace kvloom::actors
