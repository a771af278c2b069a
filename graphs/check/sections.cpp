// Declarations of what a file says beside actors and edges.
#include "graphs/check/load_run.hpp"

namespace kvloom::graphs {

namespace {

using configs::param_spec;
using configs::param_type;

param_spec choice(std::string name, std::string help, std::string fallback,
                  std::vector<std::string> choices) {
  param_spec spec;
  spec.name = std::move(name);
  spec.type = param_type::choice;
  spec.help = std::move(help);
  spec.fallback = std::move(fallback);
  spec.choices = std::move(choices);
  return spec;
}

param_spec integer(std::string name, std::string help, std::int64_t fallback,
                   double least, double most, std::string unit = {}) {
  param_spec spec;
  spec.name = std::move(name);
  spec.type = param_type::integer;
  spec.help = std::move(help);
  spec.fallback = fallback;
  spec.least = least;
  spec.most = most;
  spec.unit = std::move(unit);
  return spec;
}

param_spec text(std::string name, std::string help, std::string fallback) {
  param_spec spec;
  spec.name = std::move(name);
  spec.help = std::move(help);
  spec.fallback = std::move(fallback);
  return spec;
}

param_spec path(std::string name, std::string help, bool optional) {
  param_spec spec;
  spec.name = std::move(name);
  spec.type = param_type::path;
  spec.help = std::move(help);
  spec.optional = optional;
  return spec;
}

} // namespace

const std::vector<param_spec>& model_params() {
  static const std::vector<param_spec> specs = {
      path("path", "The model: a GGUF file or a Hugging Face folder.", false),
      choice("precision",
             "Arithmetic of weights and KV; f32 is what oracles compare with.",
             "bf16", {"f32", "bf16"}),
      choice("decode_weights",
             "Weights that decoding multiplies with: those of prefill, or the "
             "file's quantised ones; auto takes the quantised ones where the "
             "file has them and precision is bf16.",
             "auto", {"same", "quantised", "auto"}),
      integer("threads", "Threads of the engine; 0 is all cores.", 0, 0, 1024,
              "threads"),
      integer(
          "prefill_rows",
          "Rows of a prefill block; bounds the workspace. Logits may differ in "
          "the last bits from one value to another.",
          512, 16, 8192, "tokens"),
      path("tokenizer",
           "A tokenizer.json or GGUF to use in place of the model's own.",
           true),
  };
  return specs;
}

const std::vector<param_spec>& prompt_params() {
  static const std::vector<param_spec> specs = {
      choice("style",
             "How turns are marked; auto asks the model's own chat template.",
             "auto", {"auto", "none", "chatml", "llama2", "llama3", "mistral"}),
      text("system", "The system turn; empty for none.", ""),
      text("instruction", "Opens the user turn, in front of the passages.",
           "Use the passages below to answer the question that follows them. "
           "Reply with the answer alone, in five words or fewer.\n\n"),
      text("passage_before", "In front of each passage.", ""),
      text("title_separator",
           "Between a passage's title and its text, where it has a title.",
           "\n\n"),
      text("passage_after", "Behind each passage.", "\n\n"),
      text("question_before", "In front of the question.", "Question: "),
      text("question_after", "Behind the question.", "\nShort answer:"),
  };
  return specs;
}

const std::vector<param_spec>& run_params() {
  static const std::vector<param_spec> specs = {
      integer("seed", "Seeds every random stream of the run.", 0, 0, 0x1p53),
      integer("repeat", "How often the whole data set is run.", 1, 1, 100000),
      integer("warmup", "Requests run first that no statistic counts.", 0, 0,
              1000000, "requests"),
  };
  return specs;
}

const std::vector<param_spec>& edge_params() {
  static const std::vector<param_spec> specs = {
      integer("credit", "Messages that may be in flight on the edge.", 4, 1,
              65536, "messages"),
  };
  return specs;
}

const std::vector<param_spec>& place_params() {
  static const std::vector<param_spec> specs = {
      text("device", "Where the actor computes: cpu or auto.", "cpu"),
      text("node", "Host that runs the actor; empty is this process.", ""),
      integer("replicas", "Copies of the actor.", 1, 1, 1024),
      integer("threads",
              "Threads of the actor; 0 is as the model says, the only choice "
              "so far.",
              0, 0, 1024, "threads"),
  };
  return specs;
}

} // namespace kvloom::graphs
