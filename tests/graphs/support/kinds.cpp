#include "tests/graphs/support/kinds.hpp"

#include <utility>

namespace kvloom::graphs {

namespace {

using configs::param_spec;
using configs::param_type;

port_spec port(std::string name, std::string payload, bool many = false,
               bool required = true) {
  port_spec out;
  out.name = std::move(name);
  out.payload = std::move(payload);
  out.many = many;
  out.required = required;
  return out;
}

param_spec param(std::string name, param_type type,
                 std::optional<configs::param_value> fallback) {
  param_spec out;
  out.name = std::move(name);
  out.type = type;
  out.help = "A parameter.";
  out.fallback = std::move(fallback);
  return out;
}

param_spec count(std::string name, std::int64_t fallback, double least) {
  param_spec out = param(std::move(name), param_type::integer, fallback);
  out.least = least;
  out.most = 10000;
  return out;
}

param_spec choice(std::string name, std::vector<std::string> choices) {
  param_spec out = param(std::move(name), param_type::choice, choices.front());
  out.choices = std::move(choices);
  return out;
}

actor_kind kind(std::string name, std::vector<port_spec> inputs,
                std::vector<port_spec> outputs,
                std::vector<param_spec> params) {
  actor_kind out;
  out.name = std::move(name);
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  out.params = std::move(params);
  return out;
}

} // namespace

kind_catalogue test_kinds() {
  kind_catalogue all;
  actor_kind source
      = kind("question_source", {}, {port("question", "Question")},
             {param("path", param_type::path, std::nullopt),
              count("limit", 0, 0), count("offset", 0, 0),
              choice("order", {"file", "shuffled"}), count("open", 1, 0),
              param("deadline", param_type::duration,
                    std::int64_t{600} * 1000000000)});
  source.source = true;
  all.add(std::move(source));
  param_spec weights = param("weights", param_type::real_list, std::nullopt);
  weights.optional = true;
  weights.least = 0;
  param_spec words = param("words", param_type::text_list,
                           std::vector<std::string>{"no", "a,b"});
  all.add(
      kind("retriever", {port("question", "Question", true)},
           {port("retrieved", "Retrieved")},
           {choice("index", {"bm25"}), choice("scope", {"question", "all"}),
            count("top_k", 4, 1), choice("order", {"score", "original"}),
            param("label", param_type::text, std::string()), weights, words}));
  all.add(kind("prefiller", {port("request", "Retrieved", true)},
               {port("prefilled", "Prefilled")},
               {choice("mode", {"full", "reuse"}),
                param("memory", param_type::bytes, std::int64_t{1} << 30),
                param("exact", param_type::boolean, true)}));
  all.add(kind("decoder", {port("request", "Prefilled", true)},
               {port("answer", "Answer")},
               {count("max_new_tokens", 32, 1),
                param("temperature", param_type::real, 0.0)}));
  actor_kind sink = kind("recorder", {port("answer", "Answer", true)}, {},
                         {count("first_logits", 0, 0),
                          param("selected_rows", param_type::boolean, false)});
  sink.sink = true;
  all.add(std::move(sink));
  actor_kind store = kind("store", {port("ask", "Retrieved", true, false)},
                          {port("told", "Retrieved", true, false)}, {});
  store.breaks_cycles = true;
  all.add(std::move(store));
  all.add(kind("wanderer", {port("in", "Retrieved", true, false)},
               {port("out", "Retrieved", true, false)}, {}));
  return all;
}

} // namespace kvloom::graphs
