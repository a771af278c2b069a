#include "engine/files/file_kind.hpp"
#include "engine/files/weight_table.hpp"

#include <cmath>
#include <cstring>
#include <span>
#include <utility>

namespace kvloom::engine {

namespace {

/// Takes the weights of a model one by one and remembers the first fault.
class taker {
public:
  taker(weight_table& table, assembly& parts) : table_(table), parts_(parts) {}

  void required(weight_view& into, const std::string& name,
                const std::vector<std::int64_t>& shape) {
    if (fault_) return;
    auto taken = table_.take(name, shape, parts_.storage);
    if (taken)
      into = std::move(*taken);
    else
      fault_ = std::move(taken.error());
  }

  void optional(weight_view& into, const std::string& name,
                const std::vector<std::int64_t>& shape) {
    if (!name.empty() && table_.has(name)) required(into, name, shape);
  }

  void bias(weight_view& into, const std::string& name, std::int64_t n,
            bool declared) {
    if (declared)
      required(into, name, {n});
    else
      optional(into, name, {n});
  }

  std::optional<error>& fault() { return fault_; }

private:
  weight_table& table_;
  assembly& parts_;
  std::optional<error> fault_;
};

void take_layer(taker& take, layer_weights& layer, const layer_names& name,
                const assembly& parts) {
  const model_config& config = parts.config;
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t q_rows = config.n_q_heads * config.head_dim;
  const std::int64_t kv_rows = config.n_kv_heads * config.head_dim;
  const std::int64_t inner = config.intermediate_size;
  const declared_biases& biases = parts.biases;

  take.required(layer.attention_norm, name.attention_norm, {hidden});
  take.required(layer.q, name.q, {q_rows, hidden});
  take.required(layer.k, name.k, {kv_rows, hidden});
  take.required(layer.v, name.v, {kv_rows, hidden});
  take.bias(layer.q_bias, name.q_bias, q_rows, biases.qkv);
  take.bias(layer.k_bias, name.k_bias, kv_rows, biases.qkv);
  take.bias(layer.v_bias, name.v_bias, kv_rows, biases.qkv);
  if (config.qk_norm) {
    take.required(layer.q_norm, name.q_norm, {config.head_dim});
    take.required(layer.k_norm, name.k_norm, {config.head_dim});
  }
  take.required(layer.o, name.o, {hidden, q_rows});
  take.bias(layer.o_bias, name.o_bias, hidden, biases.o);
  take.required(layer.mlp_norm, name.mlp_norm, {hidden});
  take.required(layer.gate, name.gate, {inner, hidden});
  take.required(layer.up, name.up, {inner, hidden});
  take.required(layer.down, name.down, {hidden, inner});
  take.bias(layer.gate_bias, name.gate_bias, inner, biases.mlp);
  take.bias(layer.up_bias, name.up_bias, inner, biases.mlp);
  take.bias(layer.down_bias, name.down_bias, hidden, biases.mlp);
}

void restore_pairs(layer_weights& layer, assembly& parts) {
  const model_config& config = parts.config;
  const auto turn = [&](weight_view& view, std::int64_t heads) {
    if (view.present()) view = to_half_layout(view, heads, parts.storage);
  };
  turn(layer.q, config.n_q_heads);
  turn(layer.k, config.n_kv_heads);
  turn(layer.q_bias, config.n_q_heads);
  turn(layer.k_bias, config.n_kv_heads);
}

bool same_bytes(const weight_view& a, const file_tensor& b) {
  return b.type == a.type && b.shape == a.shape
         && std::memcmp(a.bytes, b.bytes, a.n_bytes) == 0;
}

/// The rule for heads: a file that declares them tied may have none, or one
/// equal to the embedding; anything else contradicts itself.
result<void> settle_head(taker& take, checkpoint& model, assembly& parts,
                         weight_table& table) {
  model_config& config = model.config;
  const file_tensor* head = table.find(parts.head);
  if (head == nullptr) {
    if (parts.tied_flag == false)
      return fail(errc::environment,
                  "the tensor " + in_quotes(parts.head)
                      + " is missing and tie_word_embeddings is not true; the "
                        "checkpoint is incomplete, or the flag is wrong");
    config.tied_head = true;
    model.head = model.embedding;
    return {};
  }
  if (parts.tied_flag == true) {
    if (!same_bytes(model.embedding, *head))
      return fail(errc::environment,
                  "tie_word_embeddings is true but " + in_quotes(parts.head)
                      + " differs from " + in_quotes(parts.embedding)
                      + "; set the flag to false to use the head, or remove "
                        "the tensor to use the embedding",
                  head->file);
    table.drop(parts.head);
    parts.notes.push_back(parts.head
                          + " equals the embedding and is tied to it");
    config.tied_head = true;
    model.head = model.embedding;
    return {};
  }
  take.required(model.head, parts.head,
                {config.vocab_size, config.hidden_size});
  config.tied_head = false;
  return {};
}

/// Rows of the embedding: at least the declared ones, more are padding.
result<void> settle_vocabulary(assembly& parts, const weight_table& table) {
  const file_tensor* embedding = table.find(parts.embedding);
  if (embedding == nullptr || embedding->shape.size() != 2)
    return {}; // reported when it is taken
  const std::int64_t rows = embedding->shape[0];
  std::int64_t& declared = parts.config.vocab_size;
  if (declared > rows)
    return fail(errc::environment,
                "the tensor " + in_quotes(parts.embedding) + " has "
                    + std::to_string(rows)
                    + " rows, the configuration declares a vocabulary of "
                    + std::to_string(declared)
                    + "; weights and configuration belong to different models",
                embedding->file);
  if (declared != 0 && declared < rows)
    parts.notes.push_back("the embedding has " + std::to_string(rows)
                          + " rows for a vocabulary of "
                          + std::to_string(declared) + "; the rest is padding");
  declared = rows;
  return {};
}

/// A bias that only some layers have is a damaged or unknown checkpoint.
result<void> check_uniform(const checkpoint& model) {
  using member = weight_view layer_weights::*;
  constexpr member biases[]
      = {&layer_weights::q_bias,    &layer_weights::k_bias,
         &layer_weights::v_bias,    &layer_weights::o_bias,
         &layer_weights::gate_bias, &layer_weights::up_bias,
         &layer_weights::down_bias};
  for (const member bias : biases)
    for (const auto& layer : model.layers) {
      const weight_view& first = model.layers.front().*bias;
      const weight_view& here = layer.*bias;
      if (first.present() != here.present())
        return fail(errc::environment,
                    "the tensor "
                        + in_quotes(first.present() ? first.name : here.name)
                        + " has no counterpart in every layer; the checkpoint "
                          "is incomplete");
    }
  return {};
}

} // namespace

weight_view to_half_layout(const weight_view& interleaved, std::int64_t heads,
                           weight_storage& storage) {
  const std::int64_t rows = interleaved.shape.front();
  const std::size_t row = interleaved.n_bytes / static_cast<std::size_t>(rows);
  const std::int64_t head_dim = rows / heads;
  const std::int64_t half = head_dim / 2;
  weight_view turned = interleaved;
  std::byte* copy = storage.add_copy(interleaved.n_bytes);
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t j = 0; j < half; ++j)
      for (std::int64_t part = 0; part < 2; ++part) {
        const std::int64_t to = head * head_dim + part * half + j;
        const std::int64_t from = head * head_dim + 2 * j + part;
        std::memcpy(copy + static_cast<std::size_t>(to) * row,
                    interleaved.bytes + static_cast<std::size_t>(from) * row,
                    row);
      }
  turned.bytes = copy;
  return turned;
}

result<void> check_config(const model_config& config,
                          const std::string& place) {
  const auto wrong = [&](const std::string& message) {
    return fail(errc::bad_input, message, place);
  };
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"number of layers", config.n_layers},
      {"hidden size", config.hidden_size},
      {"number of query heads", config.n_q_heads},
      {"number of key/value heads", config.n_kv_heads},
      {"head size", config.head_dim},
      {"intermediate size", config.intermediate_size},
      {"context length", config.context_length},
  };
  for (const auto& [name, value] : sizes)
    if (value <= 0 || value > largest_size)
      return wrong("the " + std::string(name) + " is " + std::to_string(value)
                   + "; 1 to 2^31 was wanted");
  if (config.n_layers > 100'000)
    return wrong("the number of layers is " + std::to_string(config.n_layers)
                 + "; at most 100000 was wanted");
  if (config.vocab_size < 0 || config.vocab_size > largest_size)
    return wrong("the vocabulary size is " + std::to_string(config.vocab_size)
                 + "; 1 to 2^31 was wanted");
  if (config.n_q_heads % config.n_kv_heads != 0)
    return wrong(std::to_string(config.n_q_heads)
                 + " query heads are no multiple of "
                 + std::to_string(config.n_kv_heads) + " key/value heads");
  if (config.head_dim % 2 != 0)
    return wrong("the head size is " + std::to_string(config.head_dim)
                 + "; rotary embedding wants an even one");
  if (!(config.rms_norm_eps > 0 && config.rms_norm_eps < 1))
    return wrong("the RMSNorm epsilon is " + std::to_string(config.rms_norm_eps)
                 + "; a number between 0 and 1 was wanted");
  const rope_config& rope = config.rope;
  if (!(rope.theta > 1 && std::isfinite(rope.theta)))
    return wrong("the rotary base is " + std::to_string(rope.theta)
                 + "; a number above 1 was wanted");
  if (!(rope.factor > 0 && std::isfinite(rope.factor)))
    return wrong("the rotary scaling factor is " + std::to_string(rope.factor)
                 + "; a positive number was wanted");
  using scheme = rope_config::scheme;
  if ((rope.kind == scheme::llama3 || rope.kind == scheme::yarn)
      && (rope.original_context <= 0 || rope.original_context > largest_size))
    return wrong("the original context length of the rotary scaling is "
                 + std::to_string(rope.original_context)
                 + "; 1 to 2^31 was wanted");
  if (rope.kind == scheme::llama3
      && !(rope.low_freq_factor > 0
           && rope.high_freq_factor > rope.low_freq_factor
           && std::isfinite(rope.high_freq_factor)))
    return wrong("low_freq_factor " + std::to_string(rope.low_freq_factor)
                 + " and high_freq_factor "
                 + std::to_string(rope.high_freq_factor)
                 + " of the rotary scaling must be positive, the second "
                   "larger");
  if (rope.kind == scheme::yarn
      && !(rope.beta_slow > 0 && rope.beta_fast >= rope.beta_slow
           && std::isfinite(rope.beta_fast)))
    return wrong("beta_fast " + std::to_string(rope.beta_fast)
                 + " and beta_slow " + std::to_string(rope.beta_slow)
                 + " of the rotary scaling must be positive, the first not "
                   "smaller");
  if (rope.attention_factor
      && !(*rope.attention_factor > 0 && std::isfinite(*rope.attention_factor)))
    return wrong("the attention factor of the rotary scaling is "
                 + std::to_string(*rope.attention_factor)
                 + "; a positive number was wanted");
  return {};
}

result<std::shared_ptr<const checkpoint>> assemble(assembly parts,
                                                   weight_table table) {
  const std::string place = parts.path.string();
  if (auto checked = check_config(parts.config, place); !checked)
    return pass_on(checked);
  if (auto settled = settle_vocabulary(parts, table); !settled)
    return pass_on(settled);

  const auto placed = [&](error what) {
    if (what.place.empty()) what.place = place;
    return tl::unexpected<error>(std::move(what));
  };
  auto model = std::make_shared<checkpoint>();
  model->path = parts.path;
  model->config = parts.config;
  const model_config& config = model->config;
  taker take(table, parts);
  take.required(model->embedding, parts.embedding,
                {config.vocab_size, config.hidden_size});
  take.required(model->final_norm, parts.final_norm, {config.hidden_size});
  if (take.fault()) return placed(*take.fault());
  if (auto settled = settle_head(take, *model, parts, table); !settled)
    return placed(settled.error());
  for (std::int64_t i = 0; i < config.n_layers; ++i) {
    layer_weights& layer = model->layers.emplace_back();
    take_layer(take, layer, parts.layer(i), parts);
    if (take.fault()) return placed(*take.fault());
    if (parts.interleaved_pairs) restore_pairs(layer, parts);
  }
  if (auto uniform = check_uniform(*model); !uniform)
    return placed(uniform.error());

  if (const auto left = table.names(); !left.empty()) {
    std::string list;
    for (std::size_t i = 0; i < left.size() && i < 5; ++i)
      list += (i != 0 ? ", " : "") + in_quotes(left[i]);
    return fail(errc::bad_input,
                std::to_string(left.size())
                    + " tensors have no use in a model of the family "
                    + to_string(config.family) + ": " + list
                    + (left.size() > 5 ? ", ..." : "")
                    + "; the model has parts that kvloom does not run",
                table.find(left.front())->file);
  }

  for (const auto id : config.eos)
    if (id < 0 || id >= config.vocab_size)
      return fail(errc::bad_input,
                  "the end-of-sequence id " + std::to_string(id)
                      + " is outside the vocabulary of "
                      + std::to_string(config.vocab_size),
                  place);
  if (config.bos && (*config.bos < 0 || *config.bos >= config.vocab_size))
    return fail(errc::bad_input,
                "the begin-of-sequence id " + std::to_string(*config.bos)
                    + " is outside the vocabulary of "
                    + std::to_string(config.vocab_size),
                place);

  model->notes = std::move(parts.notes);
  model->storage
      = std::make_shared<const weight_storage>(std::move(parts.storage));
  return std::shared_ptr<const checkpoint>(std::move(model));
}

} // namespace kvloom::engine
