#include "actors/nodes/retriever.hpp"

#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace kvloom::actors {

passage_collection collection_of(const datasets::dataset& data) {
  passage_collection all;
  if (!data.collection.empty()) {
    all.passages = data.collection;
  } else {
    std::set<std::tuple<std::string, std::string, std::vector<token_id>>> seen;
    for (const auto& question : data.questions)
      for (const auto& one : question.passages)
        if (seen.emplace(one.title, one.text, one.ids).second) {
          all.passages.push_back(one);
          all.origins.emplace_back(question.id, one.index);
        }
  }
  std::uint32_t index = 0;
  for (auto& one : all.passages) one.index = index++;
  return all;
}

namespace {

bool any_has_ids(const std::vector<passage>& passages) {
  return std::any_of(passages.begin(), passages.end(),
                     [](const passage& one) { return !one.ids.empty(); });
}

const passage& passage_numbered(const std::vector<passage>& passages,
                                std::uint32_t index) {
  return *std::find_if(passages.begin(), passages.end(),
                       [&](const passage& one) { return one.index == index; });
}

} // namespace

passage_search::passage_search(const retriever_options& options)
    : options_(options) {}

passage_search::passage_search(const retriever_options& options,
                               passage_collection collection)
    : options_(options), collection_(std::make_shared<const passage_collection>(
                             std::move(collection))),
      collection_has_ids_(any_has_ids(collection_->passages)),
      index_(std::make_shared<const retrieval::bm25_index>(
          collection_->passages)) {}

result<retrieved>
passage_search::operator()(const asked_question& asked) const {
  const auto begin = now_ns();
  const auto& question = asked.request->plan.asked;
  const auto& passages
      = collection_ ? collection_->passages : question->passages;
  retrieved found;
  found.request = asked.request;
  if (collection_ ? collection_has_ids_ : any_has_ids(passages)) {
    if (options_.top_k < passages.size())
      return fail(
          errc::bad_input,
          fmt::format("{} passages are given as token ids, which can't be "
                      "searched, and top_k is {}; set the retriever's top_k to "
                      "{} or more, or give texts",
                      passages.size(), options_.top_k, passages.size()),
          place_of(asked.request->plan));
    for (const auto& one : passages)
      found.ranking.push_back({one.index, 0, {}});
  } else if (index_) {
    found.ranking = index_->search(question->text, options_.top_k);
  } else {
    found.ranking = retrieval::bm25_index(passages).search(question->text,
                                                           options_.top_k);
  }
  auto prompt_order = found.ranking;
  if (options_.original_order)
    std::stable_sort(
        prompt_order.begin(), prompt_order.end(),
        [](const auto& a, const auto& b) { return a.index < b.index; });
  for (const auto& one : prompt_order) {
    // Shares the life of the collection or of the question. Passages of a
    // collection are numbered by place, those of a question with gaps.
    if (collection_)
      found.passages.emplace_back(collection_, &passages[one.index]);
    else
      found.passages.emplace_back(question,
                                  &passage_numbered(passages, one.index));
  }
  if (collection_ && !collection_->origins.empty())
    for (auto& one : found.ranking) {
      const auto& [of_question, index] = collection_->origins[one.index];
      one.of_question = of_question;
      one.index = index;
    }
  found.retrieve_ns = now_ns() - begin;
  return found;
}

namespace {

/// Says in the manifest how often top_k can't be reached.
void note_short_questions(const graphs::graph_node& node, std::size_t top_k,
                          prepare_context& context) {
  if (!context.data) return;
  const auto& questions = context.data->questions;
  const auto n_short = std::count_if(
      questions.begin(), questions.end(),
      [&](const question& one) { return one.passages.size() < top_k; });
  if (n_short > 0)
    context.notes.push_back(
        fmt::format("{}: {} of {} questions have fewer passages than top_k {}",
                    node.name, n_short, questions.size(), top_k));
}

} // namespace

node_type retriever_type() {
  graphs::actor_kind kind;
  kind.name = "retriever";
  kind.help = "Chooses the passages that go into a question's prompt.";
  kind.inputs = {input_of<asked_question>("question", "Questions to search.")};
  kind.outputs = {port_of<retrieved>("retrieved", "Questions with the chosen "
                                                  "passages, best first.")};
  kind.params = {
      choice_param("index",
                   "How passages are scored: bm25 is Okapi BM25 (k1 1.2, b "
                   "0.75) over Unicode words.",
                   "bm25", {"bm25"}),
      choice_param("scope",
                   "What is searched: the question's own passages, or those of "
                   "all questions of the data set, asked or not.",
                   "question", {"question", "collection"}),
      integer_param("top_k",
                    "Passages in the prompt, or all there are if fewer.", 4, 1,
                    10000, "passages"),
      choice_param("order",
                   "Order in the prompt: best first, or as in the data.",
                   "score", {"score", "original"}),
  };
  return stage_type<asked_question, retrieved>(
      std::move(kind),
      [](const graphs::graph_node& node, prepare_context& context)
          -> result<stage_function<asked_question, retrieved>> {
        const auto& params = node.params;
        const retriever_options options{
            static_cast<std::size_t>(params.integer("top_k")),
            params.text("order") == "original"};
        if (params.text("scope") == "question") {
          note_short_questions(node, options.top_k, context);
          return passage_search(options);
        }
        if (!context.data)
          return fail(errc::bad_input,
                      "scope collection needs a source that reads a data set",
                      configs::to_string(node.where));
        // The task of a question is the same however few are asked.
        auto whole = context.data->whole
                         ? result<datasets::dataset>(*context.data)
                         : datasets::read_dataset(context.data->path);
        if (!whole) return pass_on(whole);
        auto collection = collection_of(*whole);
        if (collection.passages.empty())
          return fail(errc::bad_input,
                      "scope is collection and the data set has no passages; "
                      "set scope: question",
                      context.data->path.string());
        context.notes.push_back(fmt::format("{}: a collection of {} passages",
                                            node.name,
                                            collection.passages.size()));
        return passage_search(options, std::move(collection));
      });
}

} // namespace kvloom::actors
