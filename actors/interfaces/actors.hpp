// Every message that kvloom's actors send to each other, one comment line
// each. Handlers take payloads by const reference; nothing here is copied on
// its way but handles.
#pragma once

#include "actors/interfaces/payloads.hpp"
#include "actors/support/caf_compat.hpp"
#include "actors/support/run_books.hpp"
#include "actors/wiring/progress.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/type_id.hpp>

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvloom::actors {

/// Names an edge of the running graph; unique in a run.
struct edge_id {
  std::uint32_t value = 0;
  auto operator<=>(const edge_id&) const = default;
};

/// Who consumes what a node sends from `port`.
struct out_link {
  std::string port;
  edge_id edge;
  caf::strong_actor_ptr consumer; ///< a consumer_of<payload of the port>
};

/// Who produces what a node gets at `port`, and how many messages may be
/// under way.
struct in_link {
  std::string port;
  edge_id edge;
  std::uint32_t window = 1;
  caf::strong_actor_ptr producer; ///< a node_actor
};

/// A turn of decoding: rows that take steps together until one of them is
/// complete, `give_way` is set, or `most_steps` are done while others wait.
struct decode_turn {
  std::vector<running_request_ptr> rows;
  std::shared_ptr<std::atomic<bool>> give_way;
  std::int64_t most_steps = 1;
};

using run_record_ptr = std::shared_ptr<const run_record>;
using decode_turn_ptr = std::shared_ptr<decode_turn>;

} // namespace kvloom::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::edge_id)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::out_link)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::in_link)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::run_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::run_record_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::request_failure)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::running_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::decode_turn_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::asked_question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::retrieved)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::prefilled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::error)

namespace kvloom::actors {
struct run_links; // below, where its handles are known
}

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(kvloom::actors::run_links)

CAF_BEGIN_TYPE_ID_BLOCK(kvloom, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::edge_id))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::out_link))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::in_link))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::run_progress))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::run_record_ptr))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::request_ptr))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::request_failure))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::running_request_ptr))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::decode_turn_ptr))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::asked_question))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::retrieved))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::prefilled))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::answered))
CAF_ADD_TYPE_ID(kvloom, (kvloom::actors::run_links))
CAF_ADD_TYPE_ID(kvloom, (kvloom::error))

CAF_ADD_ATOM(kvloom, kvloom::actors, link_out_atom, "link out")
CAF_ADD_ATOM(kvloom, kvloom::actors, link_in_atom, "link in")
CAF_ADD_ATOM(kvloom, kvloom::actors, begin_atom, "begin")
CAF_ADD_ATOM(kvloom, kvloom::actors, credit_atom, "credit")
CAF_ADD_ATOM(kvloom, kvloom::actors, item_atom, "item")
CAF_ADD_ATOM(kvloom, kvloom::actors, end_atom, "end")
CAF_ADD_ATOM(kvloom, kvloom::actors, halt_atom, "halt")
CAF_ADD_ATOM(kvloom, kvloom::actors, emitted_atom, "emitted")
CAF_ADD_ATOM(kvloom, kvloom::actors, failed_atom, "failed")
CAF_ADD_ATOM(kvloom, kvloom::actors, finished_atom, "finished")
CAF_ADD_ATOM(kvloom, kvloom::actors, abandon_atom, "abandon")
CAF_ADD_ATOM(kvloom, kvloom::actors, check_atom, "check")
CAF_ADD_ATOM(kvloom, kvloom::actors, progress_atom, "progress")
CAF_ADD_ATOM(kvloom, kvloom::actors, done_atom, "done")
CAF_ADD_ATOM(kvloom, kvloom::actors, hand_over_atom, "hand over")
CAF_ADD_ATOM(kvloom, kvloom::actors, prefill_atom, "prefill")
CAF_ADD_ATOM(kvloom, kvloom::actors, decode_atom, "decode")

CAF_END_TYPE_ID_BLOCK(kvloom)

namespace kvloom::actors {

/// Whoever has questions to ask.
using source_actor = typed_interface<
    // The request with this sequence number has its result.
    caf::result<void>(finished_atom, std::uint64_t),
    // Emit nothing more; the rest is abandoned.
    caf::result<void>(halt_atom)>;

/// Whoever leads the run (its main thread).
using supervisor_actor = typed_interface<
    // One more result was recorded.
    caf::result<void>(progress_atom, run_progress),
    // Every planned request has its result.
    caf::result<void>(done_atom)>;

/// The one place where requests end. Control messages, never under credit.
using ledger_actor = typed_interface<
    // This request was emitted.
    caf::result<void>(emitted_atom, request_ptr),
    // This request can't be answered.
    caf::result<void>(failed_atom, request_failure),
    // Everything that has no result yet fails with this reason.
    caf::result<void>(abandon_atom, error),
    // Fail what is past its deadline (sent now and then by the supervisor).
    caf::result<void>(check_atom),
    // The end: what was recorded.
    caf::result<run_record_ptr>(hand_over_atom)>;

/// Handles that every node gets when the run begins.
struct run_links {
  ledger_actor ledger;
  source_actor source;
  supervisor_actor supervisor;
};

/// Every node of a graph: its edges are linked, then it begins.
using node_actor = typed_interface<
    // What you send from this port goes there.
    caf::result<void>(link_out_atom, out_link),
    // What you get at this port comes from there.
    caf::result<void>(link_in_atom, in_link),
    // All edges are linked: grant your windows and begin.
    caf::result<void>(begin_atom, run_links),
    // The consumer of this edge can take so many more messages.
    caf::result<void>(credit_atom, edge_id, std::uint32_t)>;

/// A node that takes payloads of type T.
template <class T>
using consumer_of = typed_interface<
    // One payload, against credit.
    caf::result<void>(item_atom, edge_id, T),
    // No payload follows on this edge.
    caf::result<void>(end_atom, edge_id)>;

template <class T>
using stage_actor = joined_interface<node_actor, consumer_of<T>>;

using source_node_actor = joined_interface<node_actor, source_actor>;

using recorder_actor
    = joined_interface<node_actor, consumer_of<answered>, ledger_actor>;

/// The one owner of the model; runs one call at a time.
using model_actor = typed_interface<
    // Prefills a request up to its first token; the reply is the same request.
    caf::result<running_request_ptr>(prefill_atom, running_request_ptr),
    // Decodes rows together; the reply is the same turn, with at least one row
    // complete or a step done.
    caf::result<decode_turn_ptr>(decode_atom, decode_turn_ptr)>;

/// Names of payloads as ports declare them.
template <class T>
constexpr const char* payload_name = nullptr;
template <>
inline constexpr const char* payload_name<asked_question> = "Question";
template <>
inline constexpr const char* payload_name<retrieved> = "Retrieved";
template <>
inline constexpr const char* payload_name<prefilled> = "Prefilled";
template <>
inline constexpr const char* payload_name<answered> = "Answer";

} // namespace kvloom::actors
