#include "actors/nodes/recorder.hpp"

#include "actors/support/errors.hpp"
#include "core/base/clock.hpp"

#include <type_traits>
#include <utility>

namespace kvloom::actors {

void recorder_state::ended(std::uint64_t sequence) {
  self_->send(links_.source, finished_atom_v, sequence);
  self_->send(links_.supervisor, progress_atom_v, books_->progress(now_ns()));
  // What can't be written need not be computed.
  if (const auto& failure = books_->record().write_failure;
      failure && !gave_up_) {
    gave_up_ = true;
    ended_all(books_->abandon(*failure, now_ns()));
  }
  if (books_->complete() && !done_sent_) {
    done_sent_ = true;
    self_->send(links_.supervisor, done_atom_v);
  }
}

void recorder_state::ended_all(const std::vector<std::uint64_t>& sequences) {
  for (const auto sequence : sequences) ended(sequence);
}

recorder_actor::behavior_type recorder_state::behavior() {
  return {
      [](link_out_atom, const out_link&) {}, // a recorder has no outputs
      [this](link_in_atom, const in_link& link) { in_.link(link); },
      [this](begin_atom, const run_links& links) {
        links_ = links;
        in_.open(self_);
      },
      [](credit_atom, edge_id, std::uint32_t) {},
      [this](item_atom, edge_id edge, const answered& item) {
        const auto sequence = item.request->plan.sequence;
        const auto legal = in_.received(edge);
        const auto now = now_ns();
        if (legal
                ? books_->answered(item, now)
                : books_->failed({sequence, legal.error(), item.outcome}, now))
          ended(sequence);
        in_.finished(self_, edge);
      },
      [this](end_atom, edge_id edge) { in_.end(edge); },
      [this](emitted_atom, const request_ptr& request) {
        books_->emitted(request, now_ns());
      },
      [this](failed_atom, const request_failure& failure) {
        if (books_->failed(failure, now_ns())) ended(failure.sequence);
      },
      [this](abandon_atom, const error& why) {
        ended_all(books_->abandon(why, now_ns()));
      },
      [this](check_atom) {
        ended_all(books_->check(now_ns()));
        // Also says that this actor is not stuck.
        self_->send(links_.supervisor, progress_atom_v,
                    books_->progress(now_ns()));
      },
      [this](hand_over_atom) -> caf::result<run_record_ptr> {
        return std::make_shared<const run_record>(books_->record());
      },
  };
}

recorder_actor::behavior_type
recorder(recorder_actor::stateful_pointer<recorder_state> self,
         const std::shared_ptr<run_books>& books) {
  static_assert(!std::is_aggregate_v<recorder_state>);
  self->set_exception_handler(exception_handler);
  self->state.init(books);
  return self->state.behavior();
}

node_type recorder_type() {
  graphs::actor_kind kind;
  kind.name = "recorder";
  kind.help = "Scores answers and writes the run folder.";
  kind.sink = true;
  kind.inputs = {input_of<answered>("answer", "Answers to record.")};
  kind.params = {
      integer_param("first_logits",
                    "Also write so many of the largest logits of each first "
                    "token.",
                    0, 0, 1048576, "logits"),
      choice_param(
          "clean",
          "What is scored: the whole answer, or its first line that is "
          "not empty.",
          "none", {"none", "first_line"}),
      boolean_param("token_id_f1",
                    "Also score F1 on token ids, as the original programs do.",
                    false),
  };
  auto prepare = [](const graphs::graph_node& node,
                    prepare_context& context) -> result<node_spawner> {
    context.first_token.first_logits
        = static_cast<std::size_t>(node.params.integer("first_logits"));
    context.books.cleaning = node.params.text("clean") == "first_line"
                                 ? report::answer_cleaning::first_line
                                 : report::answer_cleaning::none;
    context.books.token_id_f1 = node.params.boolean("token_id_f1");
    return [](spawn_context& at) {
      const auto self = at.may_detach
                            ? at.system.spawn<caf::detached>(recorder, at.books)
                            : at.system.spawn(recorder, at.books);
      return running_node{self, {}, self};
    };
  };
  return {std::move(kind), std::move(prepare)};
}

} // namespace kvloom::actors
